"""The environments of a finite task, stepped over the tables of M_k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.exploration import (
    Held,
    decisions,
    first_noise,
    looks_back,
    noise,
    periods,
    renewed,
)
from adastack.deep.heads import Product, cumulative, draw, joint_log_probs
from adastack.deep.recurrent import begun_where
from adastack.deep.settings import PPOSettings
from adastack.deep.waits import Decided, Wait, no_wait, standing, waited
from adastack.process.events import ATTEMPT, WHILE_GOING_ON
from adastack.process.induced import Induced
from adastack.process.policy import join_actions, split_actions
from adastack.process.tables import Tables, tables_of

Rows = Callable[[Array, Any], tuple[Array, Any]]
"""(agent states, carry) -> what `FiniteEnvs.policy_rows` gives for each, and the carry after."""
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


class FiniteEnvs:
    """The environments of a seed; pure functions of an `EnvState`.

    Args:
        induced: The task with its memory.
        settings: The settings.
        heads: What chooses actions and memory actions.
        tables: The task's tables, as `device_tables` gives them.
    """

    def __init__(
        self, induced: Induced, settings: PPOSettings, heads: Product, tables: Any
    ) -> None:
        self.induced, self.settings, self.heads, self.tables = induced, settings, heads, tables
        self.task = induced.task
        self.holds = settings.hold_noise > 1
        self.n_held = len(heads.heads) if self.holds else 0
        """How many heads have noise that is held."""
        self._older = jnp.asarray(without_newest(induced.stacks))
        self._longest = periods(settings, heads.heads)

    def first(self, seed: int, carry: Any) -> EnvState:
        """The environments where a run begins; ``carry`` is a cell's first."""
        task, n = self.task, self.settings.n_envs
        uniform = np.random.default_rng([seed, 1]).random(n)
        state = task.start_states[np.searchsorted(task.start_cdf, uniform, "right")]
        agent = self.induced.first[task.observation[state]]
        clock = np.zeros(n, np.int32)
        bits = np.random.default_rng([seed, 4]).integers(
            2**32, size=(n, self.n_held), dtype=np.uint32
        )
        wait = None
        if self.settings.waits:
            kinds = task.n_actions * self.induced.n_memory_actions
            wait = no_wait(jnp.zeros(n, jnp.int32), kinds=kinds)
        places = (jnp.asarray(state), jnp.asarray(agent), jnp.asarray(clock))
        return EnvState(*places, first_noise(jnp.asarray(bits)), wait, carry)

    def rollout_table(self, outputs: Array, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        """As `rollout`, by the outputs of all agent states."""
        rows = self.policy_rows(outputs)
        return self.rollout(lambda agent, _: (rows[agent], None), env, key)

    def policy_rows(self, outputs: Array) -> Array:
        """What actions are drawn from: the outputs if noise is held, else the policy."""
        if self.holds:
            return outputs
        n_actions, n_memory = self.task.n_actions, self.induced.n_memory_actions
        joint = joint_log_probs(outputs, n_actions, n_memory, self.settings.action_form)
        return cumulative(jnp.exp(joint))

    def rollout(
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
            action, memory = split_actions(joint, self.task.n_actions)
            outcome = self._outcome(state, action, now[2])
            over = t.ends[state, action, outcome]
            if limit is not None:
                over |= clock + 1 >= limit
                clock = jnp.where(over, 0, clock + 1)
            after = jnp.where(over, now[1], t.next_state[state, action, outcome])
            seen = t.observation[after]
            pushed = t.push[agent, memory, seen]
            following = pushed if self.task.continual else jnp.where(over, t.first[seen], pushed)
            ends, bootstrap = self.episode_over(over), None
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
            joint = join_actions(drawn[0], drawn[1], self.task.n_actions)
        return joint.astype(jnp.int32), jnp.stack(decided, axis=1)

    def _start(self, uniform: Array) -> Array:
        index = jnp.searchsorted(self.tables.start_cdf, uniform, side="right")
        states: Array = self.tables.start_states[index]
        return states

    def _outcome(self, state: Array, action: Array, uniform: Array) -> Array:
        if self.task.n_outcomes == 1:
            return jnp.zeros_like(state)
        return draw(self.tables.outcome_cdf[state, action], uniform)

    def log(self, steps: Steps) -> Log:
        """Rewards, flags and evicted slots of steps of any shape."""
        t = self.tables
        action, memory = split_actions(steps.joint, self.task.n_actions)
        at = (steps.state, action, steps.outcome)
        flags = t.regrets[steps.agent, memory, t.cue[steps.state]]
        flags = jnp.where(steps.over, (flags & ~WHILE_GOING_ON) | ATTEMPT | t.ending[at], flags)
        evicted = t.evicted[steps.agent, memory]
        return Log(t.reward[at], flags.astype(jnp.uint8), evicted.astype(jnp.uint16))

    def following(self, steps: Steps, last_agent: Array) -> Array:
        """The agent state after each step, before any reset."""
        if self.task.continual:
            return jnp.concatenate([steps.agent[1:], last_agent[None]])
        t = self.tables
        action, memory = split_actions(steps.joint, self.task.n_actions)
        at = (steps.state, action, steps.outcome)
        pushed = t.push[steps.agent, memory, t.observation[t.next_state[at]]]
        return jnp.maximum(pushed, 0)

    def episode_over(self, over: Array) -> Array:
        """Whether episodes are over where attempts are."""
        return jnp.zeros_like(over) if self.task.continual else over

    def terminated(self, steps: Steps) -> Array:
        """Whether the episode terminated."""
        if self.task.continual:
            return jnp.zeros_like(steps.over)
        action, _ = split_actions(steps.joint, self.task.n_actions)
        terminated: Array = self.tables.ends[steps.state, action, steps.outcome]
        return terminated


def without_newest(stacks: Any) -> Any:
    """(stacks,): a number for each that is the same where all slots but the newest are."""
    _, same = np.unique(stacks[:, :-1], axis=0, return_inverse=True)
    return len(stacks) + same.reshape(-1).astype(np.int32)


def device_tables(induced: Induced) -> Tables:
    """The tables of M_k as JAX arrays.

    Cumulative probabilities lose their last entry, so that every draw falls on an outcome.
    """
    tables = tables_of(induced)
    cut = tables._replace(outcome_cdf=tables.outcome_cdf[..., :-1], start_cdf=tables.start_cdf[:-1])

    def put(array: Any) -> Any:
        single = isinstance(array, np.ndarray) and array.dtype == np.float64
        return jnp.asarray(array, jnp.float32 if single else None)

    return Tables(*map(put, cut))
