"""Training over M_k, compiled whole, for finite tasks.

Seeds run side by side. What steps the environments is vectorised over them; what does arithmetic
with the networks runs one seed after the other, so that each seed gets the same numbers, bit for
bit, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax import Array

from adastack.deep.advantages import Outcomes, Paid, scaled_advantages
from adastack.deep.best import Best, improved, nothing_yet
from adastack.deep.exploration import once, weights_of, with_density
from adastack.deep.finite_envs import EnvState, FiniteEnvs, Log, Steps, device_tables
from adastack.deep.finite_network import FiniteNetwork, Tabulated
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.recurrent import first_carry
from adastack.deep.settings import PPOSettings
from adastack.deep.units import Change, Units, counted, no_units, updated_units, with_bonus
from adastack.deep.unsettled import Chain, no_decisions, settled, unsettled
from adastack.deep.update import (
    Batch,
    Evaluation,
    Params,
    batch_of,
    pieces_for,
    schedule_at,
    update,
)
from adastack.process.events import LEARNING
from adastack.process.induced import Induced


class Learner(NamedTuple):
    """All that a seed carries from one update to the next."""

    params: Params
    moments: Any
    env: EnvState
    chain: Chain | None = None
    """The decisions whose outcome is not known yet, if a wait is one decision."""
    best: Best | None = None
    """The weights that earned the most, if they are kept."""


class FiniteTrainer:
    """PPO or GRPO on a finite task with a memory; pure functions of a `Learner`."""

    make_network: type[FiniteNetwork] = FiniteNetwork

    def __init__(self, induced: Induced, settings: PPOSettings) -> None:
        if settings.padding != "empty":
            raise ValueError(f"a finite task begins with empty slots, actual: {settings.padding!r}")
        induced.rule.check_hides_nothing()
        self.induced, self.settings, self.task = induced, settings, induced.task
        tables: Any = device_tables(induced)
        self.network = self.make_network(induced, settings, tables.stacks)
        self.envs = FiniteEnvs(induced, settings, self.network.heads, tables)
        self.n_heads = len(self.network.heads.heads)
        self.pieces = 1 if self.network.tabulated else pieces_for(settings, induced.stack_size)
        self.chunk = jax.jit(self._chunk, static_argnames="capacity", donate_argnums=0)

    def init(self, seeds: Sequence[int]) -> Learner:
        """Fresh learners, seeds on the first axis of every array."""
        fresh = [self._init_one(int(seed)) for seed in seeds]
        stacked: Learner = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *fresh)
        return stacked

    def _init_one(self, seed: int) -> Learner:
        s, net = self.settings, self.network.net
        stack = np.zeros((1, self.induced.stack_size), np.int32)
        params = initial_params(net, stack, seed, s.optimism)
        n_actions = self.task.n_actions if s.action_form == "flat" else 1
        params = bias_to_newest_slot(params, s.patience, n_actions)
        zeros = jax.tree.map(np.zeros_like, params)
        env = self.envs.first(seed, first_carry(net, s.n_envs))
        adam = optax.ScaleByAdamState(np.int32(0), zeros, zeros)
        chain = no_decisions(s.n_envs, self.n_heads, self.envs.n_held) if s.waits else None
        best = nothing_yet(params) if s.keep_best else None
        return Learner(params, (adam, no_units()), env, chain, best)

    # One chunk: some updates of all seeds.

    def _chunk(
        self,
        learner: Learner,
        seeds: Array,
        done: Array,
        count: Array,
        total: Array,
        capacity: int,
    ) -> tuple[Learner, Log, Array]:
        """Runs ``count`` of at most ``capacity`` updates, ``done`` of ``total`` being done."""
        s = self.settings
        shape = (capacity, len(seeds), s.n_steps, s.n_envs)
        log = Log(
            jnp.zeros(shape, jnp.float32), jnp.zeros(shape, jnp.uint8), jnp.zeros(shape, jnp.uint16)
        )

        def body(i: Array, carry: tuple[Learner, Log, Array]) -> tuple[Learner, Log, Array]:
            learner, log, learnings = carry
            schedule = schedule_at(s, (done + i) / total)
            learner, new, learning = self._update_all(learner, seeds, done + i, schedule)
            log = jax.tree.map(lambda all_, one: all_.at[i].set(one), log, new)
            return learner, log, learnings.at[i].set(learning)

        learnings = jnp.zeros((capacity, len(seeds), len(LEARNING)))
        first = (learner, log, learnings)
        ran: tuple[Learner, Log, Array] = jax.lax.fori_loop(0, count, body, first)
        return ran

    def _update_all(
        self, learner: Learner, seeds: Array, index: Array, schedule: Any
    ) -> tuple[Learner, Log, Array]:
        keys = jax.vmap(
            lambda seed: jax.random.split(jax.random.fold_in(jax.random.key(seed), index + 1), 2)
        )(seeds)
        table, env, steps = self.rollouts(self._with_density(learner), keys[:, 0])
        env = env._replace(held=with_density(env.held, None))
        log, best = self.envs.log(steps), learner.best
        if best is not None:
            best = improved(best, log.reward, learner.params)

        def learn(one: Any) -> tuple[Params, Any, Chain | None, Array]:
            (params, (adam, units), before, chain, _), table, steps, reward, after, key = one
            units, change = updated_units(self.settings, units, reward, steps.over)
            if chain is None:
                units, batch = self._batch(
                    params, table, units, change, steps, reward, after.agent, before.carry
                )
            else:
                units, batch, chain = self._decisions(
                    params, table, units, change, steps, reward, after, chain
                )
            params = change.of_critic(params)
            now = with_bonus(schedule, units)
            params, adam, learning = self.network.learn_from(
                batch.inputs,
                lambda evaluate: update(
                    params, adam, batch, key, now, evaluate, self.settings, self.pieces
                ),
            )
            return params, (adam, units), chain, learning

        what = (learner, table, steps, log.reward, env, keys[:, 1])
        params, moments, chain, learning = jax.lax.map(learn, what)
        return Learner(params, moments, env, chain, best), log, learning

    def _with_density(self, learner: Learner) -> Learner:
        """The learners, whose exploration knows whether rewards are dense."""
        if not (self.envs.holds and self.settings.scale_reward):
            return learner
        dense = jax.vmap(lambda units: units.dense)(learner.moments[1])
        held = with_density(learner.env.held, dense)
        return learner._replace(env=learner.env._replace(held=held))

    def rollouts(self, learner: Learner, keys: Array) -> tuple[Tabulated | None, EnvState, Steps]:
        """A rollout of every seed; also the table behind it, if it serves the update."""
        table, network = None, self.network
        if network.tabulated:
            # A sequence network's table also gives the values; an MLP's is cheap to make again.
            if network.prefixes is not None:
                outputs, _ = table = jax.lax.map(network.tabulate, learner.params)
            else:
                outputs = jax.lax.map(network.output_table, learner.params)
            env, steps = jax.vmap(self.envs.rollout_table)(outputs, learner.env, keys)
        else:
            env, steps = jax.lax.map(
                lambda one: self._rollout_net(*one), (learner.params, learner.env, keys)
            )
        return table, env, steps

    def _rollout_net(self, params: Params, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        """A rollout of one seed without a table."""

        def rows(agent: Array, _: Any) -> tuple[Array, Any]:
            outputs = self.network.outputs(params, self.network.stacks[agent])
            return self.envs.policy_rows(outputs), None

        return self.envs.rollout(rows, env, key)

    # What one seed learns from.

    def _batch(
        self, params: Params, table: Tabulated | None, units: Units, change: Change,
        steps: Steps, reward: Array, last_agent: Array, carry: Any,
    ) -> tuple[Units, Batch]:  # fmt: skip
        """What one seed learns from, one row per step, and the units by now.

        ``table`` has outputs and values of all agent states, as the rollout had them; ``change`` is
        how values have changed since.
        """
        s, over = self.settings, self.envs.episode_over(steps.over)
        at, evaluation, next_value = self._as_rolled_out(params, table, steps, last_agent, carry)
        paid = Paid(reward, steps.over)
        reward, decided, gamma = counted(s, units, reward, None)
        value = following = None
        if s.critic:
            value = change.of_values(evaluation.value.reshape(reward.shape))
            following = change.of_values(next_value)
        terminated = over if s.limits_end else self.envs.terminated(steps)
        outcomes = Outcomes(reward, decided, value, following, terminated, over, gamma)
        weight = weights_of(s, steps.decision, None, self.n_heads)
        units, advantage, returns = scaled_advantages(
            s, self.network.heads, units, outcomes, paid, weight
        )
        joint = steps.joint.reshape(-1)
        return units, batch_of(at, joint, evaluation.log_prob, advantage, returns, weight)

    def _decisions(
        self, params: Params, table: Tabulated | None, units: Units, change: Change,
        steps: Steps, reward: Array, after: EnvState, chain: Chain,
    ) -> tuple[Units, Batch, Chain]:  # fmt: skip
        """As `_batch`, of decisions instead of steps; also those whose outcome is not known yet.

        ``after`` are the environments after the rollout, ``chain`` is what the last one left over.
        """
        s, over, agent = self.settings, self.envs.episode_over(steps.over), steps.agent.reshape(-1)
        assert steps.decided is not None
        assert after.wait is not None
        evaluation = self.network.evaluate_from(params, table, agent, steps.joint.reshape(-1))
        now = Chain(
            steps.agent, steps.joint, evaluation.log_prob.reshape(*reward.shape, -1),
            self.envs.following(steps, after.agent),
            over if s.limits_end else self.envs.terminated(steps), over, steps.decision,
            steps.decided,
        )  # fmt: skip
        chain = jax.tree.map(lambda *parts: jnp.concatenate(parts), chain, now)
        learned = settled(chain.decided, chain.over, after.wait.lasted > 0)
        paid = Paid(reward, steps.over)
        # What is kept stays in the task's own units, which those to come may change.
        reward, decided, gamma = counted(s, units, reward, chain.decided)
        value = following = None
        if s.critic:
            value, following = (
                change.of_values(self.network.values(params, table, at))
                for at in (chain.agent, chain.following)
            )
        outcomes = Outcomes(reward, decided, value, following, chain.terminated, chain.over, gamma)
        weight = once(chain.decision, learned, self.n_heads, s.look_back)
        units, advantage, returns = scaled_advantages(
            s, self.network.heads, units, outcomes, paid, weight
        )
        what = (chain.agent.reshape(-1), chain.joint.reshape(-1), chain.log_prob)
        batch = batch_of(*what, advantage, returns, weight)
        return units, batch, unsettled(chain, learned)

    def _as_rolled_out(
        self, params: Params, table: Tabulated | None, steps: Steps, last_agent: Array, carry: Any
    ) -> tuple[Any, Evaluation, Array]:
        """What `evaluate` takes for all steps, their evaluation, and the values of what followed.

        ``carry`` is what a cell had carried when the rollout began.
        """
        agent, joint = steps.agent.reshape(-1), steps.joint.reshape(-1)
        evaluation = self.network.evaluate_from(params, table, agent, joint)
        following = self.envs.following(steps, last_agent)
        return agent, evaluation, self.network.values(params, table, following)
