"""Rollout and training over M_k, compiled whole, for finite tasks.

Seeds run side by side. What steps the environments is vectorised over them; what does arithmetic
with the networks runs one seed after the other, so that each seed gets the same numbers, bit for
bit, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax import Array

from adastack.deep.best import Best, improved, nothing_yet
from adastack.deep.exploration import (
    Held,
    decisions,
    first_noise,
    looks_back,
    noise,
    once,
    periods,
    renewed,
    weights_of,
    with_density,
)
from adastack.deep.gae import (
    decision_advantages,
    decision_returns,
    generalised_advantages,
    monte_carlo_returns,
)
from adastack.deep.heads import (
    Categorical,
    Product,
    cumulative,
    draw,
    joint_log_probs,
)
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks import ActorCritic, act, over_prefixes, policy_and_value
from adastack.deep.networks.observations import Leaf, check_net
from adastack.deep.networks.prefixes import Prefixes, prefixes_of
from adastack.deep.recurrent import begun_where, first_carry
from adastack.deep.settings import PPOSettings
from adastack.deep.units import Change, Units, counted, no_units, scaled, updated_units, with_bonus
from adastack.deep.unsettled import Chain, no_decisions, settled, unsettled
from adastack.deep.update import Batch, Evaluation, Params, schedule_at, update
from adastack.deep.waits import Decided, Wait, no_wait, standing, waited
from adastack.process.events import ATTEMPT, LEARNING, WHILE_GOING_ON
from adastack.process.induced import Induced
from adastack.process.policy import join_actions, split_actions
from adastack.process.tables import Tables, tables_of

Rows = Callable[[Array, Any], tuple[Array, Any]]
"""(agent states, carry) -> what `_choose` takes, and the carry after."""
CutOff = Callable[[Array, Any, Array], Array]
"""(agent states after a step, carry, whether each was cut) -> the values of those, else 0."""


class EnvState(NamedTuple):
    """The environments of one seed: hidden states, agent states, steps of the episode."""

    state: Array
    agent: Array
    clock: Array
    held: Held
    """The noise of exploration."""
    wait: Wait | None = None
    """The choices that stand, if a wait is one decision."""
    carry: Any = None
    """What a cell has carried so far; see `adastack.deep.recurrent`."""


class Learner(NamedTuple):
    """All that a seed carries from one update to the next."""

    params: Params
    moments: Any
    env: EnvState
    chain: Chain | None = None
    """The decisions whose outcome is not known yet, if a wait is one decision."""
    best: Best | None = None
    """The weights that earned the most, if they are kept."""


class Steps(NamedTuple):
    """What happened, time on the first axis."""

    state: Array
    agent: Array
    joint: Array
    outcome: Array
    over: Array
    decision: Array
    """Which held decision each step belongs to, by head."""
    decided: Decided | None = None
    """What each step decided, if a wait is one decision."""
    bootstrap: Any = None
    """With a cell, the value of what a time limit cut off; 0 elsewhere."""


class Log(NamedTuple):
    """What the metrics are made from, per step."""

    reward: Array
    flags: Array
    evicted: Array


class FiniteTrainer:
    """PPO or GRPO on a finite task with a memory; pure functions of a `Learner`."""

    def __init__(self, induced: Induced, settings: PPOSettings) -> None:
        if settings.padding != "empty":
            raise ValueError(f"a finite task begins with empty slots, actual: {settings.padding!r}")
        induced.rule.check_hides_nothing()
        self.induced = induced
        self.settings = settings
        self.task = induced.task
        self.tables: Any = on_device(tables_of(induced))
        self.n_actions = self.task.n_actions
        self.n_memory = induced.n_memory_actions
        self.masked = NETWORKS[settings.net].sequence and not settings.read_empty
        self.prefixes = self._prefixes()
        self.tabulated = self._tabulated()
        self.heads = heads_for(self.n_actions, self.n_memory, settings.action_form)
        spec = Leaf("onehot", (self.task.n_observations + 1,))
        check_net(settings.net, spec)
        self.net = ActorCritic(
            spec,
            settings.net,
            self.heads.n_outputs,
            critic=settings.critic,
            shared=settings.shared,
            hidden=settings.hidden,
            cell=settings.cell,
        )
        self.holds = settings.hold_noise > 1
        self._older = jnp.asarray(without_newest(induced.stacks))
        self._longest = periods(
            settings.hold_noise, settings.n_envs, [True] * len(self.heads.heads)
        )
        self.chunk = jax.jit(self._chunk, static_argnames="capacity", donate_argnums=0)

    def _prefixes(self) -> Prefixes | None:
        """What a sequence network reads instead of all stacks, if that is worth its while."""
        s, network = self.settings, NETWORKS[self.settings.net]
        if not network.sequence or s.tables is False:
            return None
        stacks, empty = self.induced.stacks, self.task.empty
        rows = stacks.size if s.tables else s.batch_size * self.induced.stack_size
        found = prefixes_of(stacks, empty, s.read_empty, rows)
        worth = found is not None and (s.tables or network.load().tokens(found) <= rows)
        return found if worth else None

    def _tabulated(self) -> bool:
        """Whether the network is evaluated on all agent states at once."""
        if self.settings.tables is not None:
            return self.settings.tables
        if NETWORKS[self.settings.net].sequence:
            return self.prefixes is not None
        return self.induced.n_agent_states <= self.settings.batch_size

    def _filled(self, stacks: Array) -> Array | None:
        """How many slots of each stack are read; all, if None."""
        if not self.masked:
            return None
        return jnp.maximum((stacks != self.task.empty).sum(axis=1), 1)

    def init(self, seeds: Sequence[int]) -> Learner:
        """Fresh learners, seeds on the first axis of every array."""
        fresh = [self._init_one(int(seed)) for seed in seeds]
        stacked: Learner = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *fresh)
        return stacked

    def _init_one(self, seed: int) -> Learner:
        stack = np.zeros((1, self.induced.stack_size), np.int32)
        params = initial_params(self.net, stack, seed, self.settings.optimism)
        flat = self.settings.action_form == "flat"
        params = bias_to_newest_slot(params, self.settings.patience, self.n_actions if flat else 1)
        zeros = jax.tree.map(np.zeros_like, params)
        uniform = np.random.default_rng([seed, 1]).random(self.settings.n_envs)
        state = self.task.start_states[np.searchsorted(self.task.start_cdf, uniform, "right")]
        agent = self.induced.first[self.task.observation[state]]
        clock = np.zeros(self.settings.n_envs, np.int32)
        heads = len(self.heads.heads) if self.holds else 0
        bits = np.random.default_rng([seed, 4]).integers(
            2**32, size=(self.settings.n_envs, heads), dtype=np.uint32
        )
        held = first_noise(jnp.asarray(bits))
        n = self.settings.n_envs
        wait = None
        if self.settings.waits:
            wait = no_wait(jnp.zeros(n, jnp.int32), kinds=self.n_actions * self.n_memory)
        carry = first_carry(self.net, n)
        places = (jnp.asarray(state), jnp.asarray(agent), jnp.asarray(clock))
        env = EnvState(*places, held, wait, carry)
        adam = optax.ScaleByAdamState(np.int32(0), zeros, zeros)
        chain = no_decisions(n, len(self.heads.heads), heads) if self.settings.waits else None
        best = nothing_yet(params) if self.settings.keep_best else None
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
        tables, env, steps = self._roll_out(self._with_density(learner), keys[:, 0])
        env = env._replace(held=with_density(env.held, None))
        log, best = self._log(steps), learner.best
        if best is not None:
            best = improved(best, log.reward, learner.params)

        def learn(one: Any) -> tuple[Params, Any, Chain | None, Array]:
            (params, (adam, units), before, chain, _), tables, steps, reward, after, key = one
            units, change = updated_units(self.settings, units, reward, steps.over)
            if chain is None:
                units, batch = self._batch(
                    params, tables, units, change, steps, reward, after.agent, before.carry
                )
            else:
                units, batch, chain = self._decisions(
                    params, tables, units, change, steps, reward, after, chain
                )
            params = change.of_critic(params)
            now = with_bonus(schedule, units)
            params, adam, learning = update(
                params, adam, batch, key, now, self.evaluate, self.settings
            )
            return params, (adam, units), chain, learning

        what = (learner, tables, steps, log.reward, env, keys[:, 1])
        params, moments, chain, learning = jax.lax.map(learn, what)
        return Learner(params, moments, env, chain, best), log, learning

    def _with_density(self, learner: Learner) -> Learner:
        """The learners, whose exploration knows whether rewards are dense."""
        if not (self.holds and self.settings.scale_reward):
            return learner
        dense = jax.vmap(lambda units: units.dense)(learner.moments[1])
        held = with_density(learner.env.held, dense)
        return learner._replace(env=learner.env._replace(held=held))

    # Rollout.

    def _roll_out(
        self, learner: Learner, keys: Array
    ) -> tuple[tuple[Array, Array] | None, EnvState, Steps]:
        """A rollout of every seed; also the tables behind it, if they serve the update."""
        tables = None
        if self.tabulated:
            # A sequence network's tables also give the values; an MLP's are cheap to make again.
            if self.prefixes is not None:
                outputs, _ = tables = jax.lax.map(self._of_all, learner.params)
            else:
                outputs = jax.lax.map(self._output_table, learner.params)
            env, steps = jax.vmap(self._rollout_table)(outputs, learner.env, keys)
        else:
            env, steps = jax.lax.map(
                lambda one: self._rollout_net(*one), (learner.params, learner.env, keys)
            )
        return tables, env, steps

    def outputs(self, params: Params, stacks: Array) -> Array:
        """(stacks, outputs): what the heads are given."""
        return act(self.net, params, stacks, self._filled(stacks))

    def _output_table(self, params: Params) -> Array:
        if self.prefixes is not None:
            return self._of_all(params)[0]
        return self.outputs(params, self.tables.stacks)

    def _of_all(self, params: Params) -> tuple[Array, Array]:
        """Outputs and values of all agent states."""
        if self.prefixes is None:
            return self._of(params, self.tables.stacks)
        return over_prefixes(self.net, params, self.prefixes)

    def _of(self, params: Params, stacks: Array) -> tuple[Array, Array]:
        """Outputs and values of stacks, every row by itself."""
        return policy_and_value(self.net, params, stacks, self._filled(stacks))

    def _rollout_table(self, table: Array, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        rows = self._policy_rows(table)
        return self._rollout(lambda agent, _: (rows[agent], None), env, key)

    def _rollout_net(self, params: Params, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        def rows(agent: Array, _: Any) -> tuple[Array, Any]:
            return self._policy_rows(self.outputs(params, self.tables.stacks[agent])), None

        return self._rollout(rows, env, key)

    def _policy_rows(self, outputs: Array) -> Array:
        """What `_choose` takes: the outputs if noise is held, else the policy."""
        return outputs if self.holds else cumulative(jnp.exp(self._joint(outputs)))

    def _rollout(
        self, rows: Rows, env: EnvState, key: Array, cut_off: CutOff | None = None
    ) -> tuple[EnvState, Steps]:
        """Steps of all environments; with a cell, also the values of what was cut off."""
        s, t, limit = self.settings, self.tables, self.task.time_limit
        uniform = jax.random.uniform(key, (3, s.n_steps, s.n_envs))
        fresh = self._start(uniform[1])
        keys = jax.random.split(jax.random.fold_in(key, 1), s.n_steps) if self.holds else None

        def step(env: EnvState, now: tuple[Any, ...]) -> tuple[EnvState, Steps]:
            state, agent, clock, held, wait, carry = env
            found, carry = rows(agent, carry)
            joint, decision = self._choose(found, agent, held, now[0])
            if wait is not None:
                joint = standing(wait, joint)
            action, memory = split_actions(joint, self.n_actions)
            outcome = self._outcome(state, action, now[2])
            over = t.ends[state, action, outcome]
            if limit is not None:
                over |= clock + 1 >= limit
                clock = jnp.where(over, 0, clock + 1)
            after = jnp.where(over, now[1], t.next_state[state, action, outcome])
            seen = t.observation[after]
            pushed = t.push[agent, memory, seen]
            following = pushed if self.task.continual else jnp.where(over, t.first[seen], pushed)
            ends, bootstrap = self._episode_over(over), None
            if self.holds:
                held = renewed(held, ends, now[3], self._longest)
            decided = None
            if wait is not None:
                ended = t.ends[state, action, outcome]
                wait, decided = waited(
                    wait, joint, (pushed != agent) | over, ended | ~over,
                    t.reward[state, action, outcome], now[4], s.gamma,
                )  # fmt: skip
            if cut_off is not None:
                at = (state, action, outcome)
                last = t.push[agent, memory, t.observation[t.next_state[at]]]
                bootstrap = cut_off(jnp.maximum(last, 0), carry, ends & ~t.ends[at])
            steps = Steps(state, agent, joint, outcome, over, decision, decided, bootstrap)
            carry = begun_where(ends, carry)
            return EnvState(after, following, clock, held, wait, carry), steps

        patience = None
        if s.waits:
            patience = jax.random.uniform(jax.random.fold_in(key, 2), (s.n_steps, s.n_envs))
        return jax.lax.scan(step, env, (uniform[0], fresh, uniform[2], keys, patience))

    def _episode_over(self, over: Array) -> Array:
        """Whether episodes are over where attempts are."""
        return jnp.zeros_like(over) if self.task.continual else over

    def _choose(self, rows: Array, agent: Array, held: Held, uniform: Array) -> tuple[Array, Array]:
        """Joint actions, and the held decisions behind them."""
        if not self.holds:
            return draw(rows, uniform), jnp.zeros((len(agent), 0), jnp.uint32)
        drawn, decided = [], []
        for i, (head, part) in enumerate(
            zip(self.heads.heads, self.heads.split(rows), strict=True)
        ):
            seed, situation = held.seed[:, i], agent
            if i and self.settings.look_back:
                situation = jnp.where(looks_back(held, i), self._older[agent], agent)
            drawn.append(head.sample_with(part, noise(seed, situation, head.n_noise))[:, 0])
            decided.append(decisions(seed, situation))
        joint = drawn[0]
        if len(drawn) > 1:
            joint = join_actions(drawn[0], drawn[1], self.n_actions)
        return joint.astype(jnp.int32), jnp.stack(decided, axis=1)

    def _start(self, uniform: Array) -> Array:
        index = jnp.searchsorted(self.tables.start_cdf, uniform, side="right")
        states: Array = self.tables.start_states[index]
        return states

    def _outcome(self, state: Array, action: Array, uniform: Array) -> Array:
        if self.task.n_outcomes == 1:
            return jnp.zeros_like(state)
        return draw(self.tables.outcome_cdf[state, action], uniform)

    def _log(self, steps: Steps) -> Log:
        """Rewards, flags and evicted slots of steps of any shape."""
        t = self.tables
        action, memory = split_actions(steps.joint, self.n_actions)
        at = (steps.state, action, steps.outcome)
        flags = t.regrets[steps.agent, memory, t.cue[steps.state]]
        flags = jnp.where(steps.over, (flags & ~WHILE_GOING_ON) | ATTEMPT | t.ending[at], flags)
        evicted = t.evicted[steps.agent, memory]
        return Log(t.reward[at], flags.astype(jnp.uint8), evicted.astype(jnp.uint16))

    # Update.

    def _batch(
        self, params: Params, tables: tuple[Array, Array] | None, units: Units, change: Change,
        steps: Steps, reward: Array, last_agent: Array, carry: Any,
    ) -> tuple[Units, Batch]:  # fmt: skip
        """What one seed learns from, one row per step, and the units by now.

        ``tables`` are outputs and values of all agent states, as the rollout had them; ``change``
        is how values have changed since.
        """
        s, over = self.settings, self._episode_over(steps.over)
        at, evaluation, next_value = self._as_rolled_out(params, tables, steps, last_agent, carry)
        outcome = steps.over | (reward != 0)
        reward, _, gamma = counted(s, units, reward, None)
        if s.critic:
            value = change.of_values(evaluation.value.reshape(reward.shape))
            terminated = over if s.limits_end else self._terminated(steps)
            rest = (value, change.of_values(next_value), terminated, over)
            advantage = generalised_advantages(reward, *rest, gamma, s.gae_lambda)
            returns = advantage + value
        else:
            advantage = returns = monte_carlo_returns(reward, over, gamma)
        weight = weights_of(s, steps.decision, None, len(self.heads.heads))
        units, advantage = scaled(s, units, advantage, returns, outcome, weight)
        joint = steps.joint.reshape(-1)
        return units, batch_of(at, joint, evaluation.log_prob, advantage, returns, weight)

    def _decisions(
        self, params: Params, tables: tuple[Array, Array] | None, units: Units, change: Change,
        steps: Steps, reward: Array, after: EnvState, chain: Chain,
    ) -> tuple[Units, Batch, Chain]:  # fmt: skip
        """As `_batch`, of decisions instead of steps; also those whose outcome is not known yet.

        ``after`` are the environments after the rollout, ``chain`` is what the last one left over.
        """
        s, over, agent = self.settings, self._episode_over(steps.over), steps.agent.reshape(-1)
        assert steps.decided is not None
        assert after.wait is not None
        evaluation = self._evaluation(self._rows(params, tables, agent), steps.joint.reshape(-1))
        now = Chain(
            steps.agent, steps.joint, evaluation.log_prob.reshape(*reward.shape, -1),
            self._following(steps, after.agent),
            over if s.limits_end else self._terminated(steps), over, steps.decision, steps.decided,
        )  # fmt: skip
        chain = jax.tree.map(lambda *parts: jnp.concatenate(parts), chain, now)
        learned = settled(chain.decided, chain.over, after.wait.lasted > 0)
        # What is kept stays in the task's own units, which those to come may change.
        decided = counted(s, units, reward, chain.decided).decided
        assert decided is not None
        if s.critic:
            value, following = (
                change.of_values(self._values(params, tables, at))
                for at in (chain.agent, chain.following)
            )
            rest = (value, following, chain.terminated, chain.over)
            advantage = decision_advantages(decided, *rest, s.gae_lambda)
            returns = advantage + value
        else:
            advantage = returns = decision_returns(decided, chain.over)
        weight = once(chain.decision, learned, len(self.heads.heads), s.look_back)
        outcome = steps.over | (reward != 0)
        units, advantage = scaled(s, units, advantage, returns, outcome, weight)
        what = (chain.agent.reshape(-1), chain.joint.reshape(-1), chain.log_prob)
        batch = batch_of(*what, advantage, returns, weight)
        return units, batch, unsettled(chain, learned)

    def _as_rolled_out(
        self, params: Params, tables: tuple[Array, Array] | None, steps: Steps, last_agent: Array,
        carry: Any,
    ) -> tuple[Any, Evaluation, Array]:  # fmt: skip
        """What `evaluate` takes for all steps, their evaluation, and what followed each is worth.

        ``carry`` is what a cell had carried when the rollout began.
        """
        agent, joint = steps.agent.reshape(-1), steps.joint.reshape(-1)
        evaluation = self._evaluation(self._rows(params, tables, agent), joint)
        return agent, evaluation, self._values(params, tables, self._following(steps, last_agent))

    def _following(self, steps: Steps, last_agent: Array) -> Array:
        """The agent state after each step, before any reset."""
        if self.task.continual:
            return jnp.concatenate([steps.agent[1:], last_agent[None]])
        t = self.tables
        action, memory = split_actions(steps.joint, self.n_actions)
        at = (steps.state, action, steps.outcome)
        pushed = t.push[steps.agent, memory, t.observation[t.next_state[at]]]
        return jnp.maximum(pushed, 0)

    def _terminated(self, steps: Steps) -> Array:
        """Whether the episode terminated."""
        if self.task.continual:
            return jnp.zeros_like(steps.over)
        action, _ = split_actions(steps.joint, self.n_actions)
        terminated: Array = self.tables.ends[steps.state, action, steps.outcome]
        return terminated

    def _values(self, params: Params, tables: tuple[Array, Array] | None, agent: Array) -> Array:
        if self.tabulated:
            return (self._of_all(params) if tables is None else tables)[1][agent]
        flat = self.tables.stacks[agent.reshape(-1)]
        return self._of(params, flat)[1].reshape(agent.shape)

    def evaluate(self, params: Params, agent: Array, joint: Array) -> Evaluation:
        """Log-probabilities, entropies and values at agent states, with or without a table."""
        return self._evaluation(self._rows(params, None, agent), joint)

    def evaluate_plainly(self, params: Params, agent: Array, joint: Array) -> Evaluation:
        """What `evaluate` gives, by the definition of the network: row by row, slot by slot."""
        stacks = self.tables.stacks[agent]
        found: Any = self.net.apply(params, stacks, self._filled(stacks))
        return self._evaluation(self._row(*found), joint)

    def _rows(self, params: Params, tables: tuple[Array, Array] | None, agent: Array) -> Array:
        """What `_row` gives, at agent states."""
        if not self.tabulated:
            return self._row(*self._of(params, self.tables.stacks[agent]))
        table = self._row(*(self._of_all(params) if tables is None else tables))
        # A product with one-hot rows looks up on the way there and sums up on the way back.
        return jax.nn.one_hot(agent, len(table)) @ table

    def _evaluation(self, rows: Array, joint: Array) -> Evaluation:
        chosen = [joint] if len(self.heads.heads) == 1 else split_actions(joint, self.n_actions)
        log_probs, begin = [], 0
        for head, option in zip(self.heads.heads, chosen, strict=True):
            part = rows[:, begin : begin + head.n_outputs]
            log_probs.append(jnp.sum(part * jax.nn.one_hot(option, head.n_outputs), axis=1))
            begin += head.n_outputs
        entropies = rows[:, begin:-1]
        return Evaluation(jnp.stack(log_probs, axis=1), entropies, rows[:, -1])

    def _row(self, outputs: Array, value: Array) -> Array:
        """(rows, options + heads + 1): log-probabilities of the options, entropies, the value."""
        options = [jax.nn.log_softmax(part) for part in self.heads.split(outputs)]
        return jnp.concatenate([*options, self.heads.entropies(outputs), value[:, None]], axis=1)

    def _joint(self, outputs: Array) -> Array:
        return joint_log_probs(outputs, self.n_actions, self.n_memory, self.settings.action_form)


def batch_of(
    at: Any, joint: Array, log_prob: Array, advantage: Array, returns: Array, weight: Array | None
) -> Batch:
    """Steps or decisions of all environments as rows to learn from."""
    n = advantage.size
    flat = None if weight is None else weight.reshape(n, -1)
    return Batch(
        at, joint, log_prob.reshape(n, -1), advantage.reshape(-1), returns.reshape(-1), flat
    )


def without_newest(stacks: Any) -> Any:
    """(stacks,): a number for each that is the same where all slots but the newest are."""
    _, same = np.unique(stacks[:, :-1], axis=0, return_inverse=True)
    return len(stacks) + same.reshape(-1).astype(np.int32)


def heads_for(n_actions: int, n_memory: int, form: str) -> Product:
    """The heads of a task with numbered actions."""
    if form == "flat":
        return Product((Categorical((n_actions * n_memory,)),))
    return Product((Categorical((n_actions,)), Categorical((n_memory,))))


def on_device(tables: Tables) -> Tables:
    """The tables as JAX arrays.

    Cumulative probabilities lose their last entry, so that every draw falls on an outcome.
    """
    cut = tables._replace(outcome_cdf=tables.outcome_cdf[..., :-1], start_cdf=tables.start_cdf[:-1])

    def put(array: Any) -> Any:
        single = isinstance(array, np.ndarray) and array.dtype == np.float64
        return jnp.asarray(array, jnp.float32 if single else None)

    return Tables(*map(put, cut))
