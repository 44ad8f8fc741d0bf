"""Rollouts of functional tasks, compiled together with the update that learns from them.

Step for step the rollout of `adastack.deep.host` over a `FunctionalTaskVectorEnv`, with the same
draws; what is left of it for the host is to count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from jax import Array

from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.buffer import PADDING
from adastack.deep.clock import NOT_STORED
from adastack.deep.exploration import with_density
from adastack.deep.explorer import After, Exploring
from adastack.deep.networks.observations import Leaf
from adastack.deep.recurrent import begun_where
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import offset_of
from adastack.deep.update import Params
from adastack.memory import get_rule
from adastack.memory.regret import NOTHING, regrets
from adastack.process.events import ATTEMPT, step_flags
from adastack.tasks.functional import FunctionalTask, Reset, State
from adastack.tasks.functional_vector import reset_all, reset_some, step_all


class Stacks(NamedTuple):
    """The memories of the environments, (environments, k, ...)."""

    shown: Array
    """The observation in each slot."""
    rows: Array
    """Where it is stored; `PADDING` for an empty slot."""
    labels: Array
    """Its label, for the metrics."""
    filled: Array
    """Whether it came since the reset."""
    stored_at: Array | None = None
    """The time step of the episode at which it came, if the critic has a clock."""


class EnvState(NamedTuple):
    """The environments of one seed: their states and memories."""

    key: Array
    """The environments' generator, as numbers."""
    state: State
    stacks: Stacks
    cue: Array
    """(environments, cues): what must be remembered now; no cues if the task has none."""
    exploring: Exploring
    carry: Any = None
    """What a cell has carried so far; see `adastack.deep.recurrent`."""


class Learner(NamedTuple):
    """All that a seed carries from one update to the next."""

    params: Params
    moments: Any
    env: EnvState


class Log(NamedTuple):
    """What the metrics are made from, per step."""

    reward: Array
    flags: Array
    evicted: Array


class FunctionalTrainer(StackAgent):
    """PPO or GRPO on a functional task with a memory; pure functions of a `Learner`."""

    def __init__(
        self, task: FunctionalTask, memory: str, stack_size: int, settings: PPOSettings
    ) -> None:
        super().__init__(task.observation_space, task.action_space, memory, stack_size, settings)
        if not isinstance(self.inputs.spec, Leaf):
            raise TypeError(f"expected one array as observation, actual: {task.observation_space}")
        self.task = task
        self._offset = offset_of(self.inputs.spec, task.observation_space)
        self._slot_of = jnp.asarray(get_rule(memory).table(stack_size), jnp.int32)
        order = np.arange(stack_size)
        # Where the slots come from when each one goes; the last is overwritten.
        self._kept = jnp.asarray([np.append(np.delete(order, slot), 0) for slot in order])
        self._begin = jax.jit(self._begun)
        self.advance = jax.jit(self._advanced, donate_argnums=0)

    def shown_limits(self) -> tuple[Any, Any]:
        """The least and the most that a slot shows; the empty slot is one symbol more."""
        spec = self.inputs.spec
        symbols = isinstance(spec, Leaf) and spec.kind == "onehot"
        return (0, self.inputs.columns[0][2]) if symbols else (None, None)

    def start(self, seed: int) -> Learner:
        """Fresh weights and environments."""
        params, moments = self.init(seed)
        of_env = int(np.random.default_rng([seed, 2, 0]).integers(2**31))
        first = seeding.np_random(of_env)[0].integers(2**32, dtype=np.uint32)
        exploring = self.explorer.begin(self.settings.n_envs, seed, 0)
        return Learner(params, moments, self._begin(first, exploring))

    def _begun(self, first: Array, exploring: Exploring) -> EnvState:
        n = self.settings.n_envs
        key, now = reset_all(self.task, n, jax.random.key(first))
        rows = jnp.arange(1, 1 + n * self.stack_size, self.stack_size, dtype=jnp.int32)
        stacks = self._first(self._leaf(now.observation), rows, _shown(now, n))
        rest = (_cue(now, n), exploring, self.first_carry(n))
        return EnvState(jax.random.key_data(key), now.state, stacks, *rest)

    def _advanced(
        self, learner: Learner, seed: Array, index: Array, progress: Array
    ) -> tuple[Learner, Log, Array]:
        """A rollout and an update; also what the metrics need."""
        env = learner.env._replace(
            exploring=self.explorer.with_density(learner.env.exploring, learner.moments)
        )
        env, rollout, log = self.rollout(learner.params, env, seed, index)
        params, moments, learning = self.learned(
            learner.params, learner.moments, rollout, seed, index, progress
        )
        held = with_density(env.exploring.held, None)
        env = env._replace(exploring=env.exploring._replace(held=held))
        return Learner(params, moments, env), log, learning

    def rollout(
        self, params: Params, env: EnvState, seed: Array, index: Array
    ) -> tuple[EnvState, Rollout, Log]:
        """The steps of a rollout in all environments, with one set of weights."""
        s = self.settings
        env = env._replace(stacks=_moved_to_the_head(env.stacks))
        held, carry = self._columns(env.stacks), env.carry
        head = 1 + s.n_envs * self.stack_size

        def step(env: EnvState, t: Array) -> tuple[EnvState, tuple[Any, ...]]:
            rows = head + t * s.n_envs + jnp.arange(s.n_envs, dtype=jnp.int32)
            return self._step(params, env, rows, seed, index * s.n_steps + t)

        env, steps = jax.lax.scan(step, env, jnp.arange(s.n_steps, dtype=jnp.int32))
        seen, slots, *happened, log = steps
        columns = [
            jnp.concatenate([_empty_row(empty, old), *(_rows(part, old) for part in (old, new))])
            for old, new, (_, _, empty) in zip(held, seen, self.inputs.stored, strict=True)
        ]
        slots = jnp.concatenate([slots, env.stacks.rows[None]])
        return env, Rollout(columns, slots, *happened)._replace(carry=carry), log

    def _columns(self, stacks: Stacks) -> list[Array]:
        """What a rollout stores of the slots, (environments, k, ...) each."""
        return [stacks.shown] if stacks.stored_at is None else [stacks.shown, stacks.stored_at]

    def _step(
        self, params: Params, env: EnvState, rows: Array, seed: Array, clock: Array
    ) -> tuple[EnvState, tuple[Any, ...]]:
        stacks, n = env.stacks, len(rows)
        joined, decision, carry = self.explored(
            params, [stacks.shown], env.exploring, seed, clock, _n_held(stacks), env.carry
        )
        action, memory = self.split(joined)
        evicted = self._slot_of[memory, stacks.filled.sum(axis=1)]
        key = jax.random.wrap_key_data(env.key)
        key, after = step_all(self.task, key, env.state, self._taken(action))
        over = after.terminated | after.truncated
        now = Reset(after.state, after.observation, after.extras)
        flags = self._flags(env, evicted, now, over)
        last = self._pushed(stacks, evicted, self._leaf(now.observation), rows, _shown(now, n))
        cut = after.truncated & ~after.terminated
        bootstrap = self._cut_off(params, last, carry, cut)
        key, now = jax.lax.cond(
            over.any(), lambda: reset_some(self.task, key, over, now), lambda: (key, now)
        )
        seen = self._leaf(now.observation)
        fresh = self._first(seen, rows, _shown(now, n))
        following = jax.tree.map(lambda new, old: _where(over, new, old), fresh, last)
        reward = after.reward.astype(jnp.float32)
        log = Log(reward, flags, evicted.astype(jnp.uint16))
        step = After(
            [stacks.shown], [last.shown], reward, (flags & ATTEMPT) > 0, over, after.terminated
        )
        exploring, decided = self.explorer.gone_on(env.exploring, joined, step, seed, clock)
        happened = (joined, reward, after.terminated, over, bootstrap, decision, decided)
        rest = (_cue(now, n), exploring, begun_where(over, carry))
        env = EnvState(jax.random.key_data(key), now.state, following, *rest)
        new = [column[:, -1] for column in self._columns(following)]
        return env, (new, stacks.rows, *happened, log)

    def _taken(self, action: Array) -> Array:
        """The output of the head as an action of the task."""
        space = self.task.action_space
        if isinstance(space, Box):
            return jnp.clip(action.reshape(-1, *space.shape), space.low, space.high)
        return action[:, 0].astype(jnp.int32)

    def _leaf(self, observation: Array) -> Array:
        leaf: Array = (observation - self._offset).astype(self.inputs.columns[0][1])
        return leaf

    def _cut_off(self, params: Params, stacks: Stacks, carry: Any, cut: Array) -> Array:
        """The value of what a time limit cut off."""
        none = jnp.zeros(len(cut), jnp.float32)
        if not self.settings.critic:
            return none

        def values() -> Array:
            found = self.value_of(params, self._columns(stacks), _n_held(stacks), carry)
            return jnp.where(cut, found, 0.0)

        cut_off: Array = jax.lax.cond(cut.any(), values, lambda: none)
        return cut_off

    def _flags(self, env: EnvState, evicted: Array, after: Reset, over: Array) -> Array:
        ended = over | after.extras["attempt_over"]
        found = None
        if env.cue.shape[1]:
            found = regrets(env.stacks.labels, evicted, env.cue, ended)
        flags: Array = step_flags(ended, after.extras["success"], found)
        return flags

    # Stacks.

    def _first(self, seen: Array, rows: Array, labels: Array) -> Stacks:
        """Stacks that hold one observation each."""
        shape = (len(rows), self.stack_size)
        filled = jnp.zeros(shape, jnp.bool_).at[:, -1].set(True)
        stored_at = jnp.zeros(shape, jnp.float32) if self.settings.uses_clock else None
        if self.repeats:
            shown, rows, labels = (
                jnp.repeat(column[:, None], shape[1], axis=1) for column in (seen, rows, labels)
            )
            return Stacks(shown, rows, labels, filled, stored_at)
        empty = jnp.asarray(self.inputs.columns[0][2], seen.dtype)
        shown = jnp.broadcast_to(empty, (*shape, *seen.shape[1:]))
        return Stacks(
            shown.at[:, -1].set(seen),
            jnp.full(shape, PADDING, jnp.int32).at[:, -1].set(rows),
            jnp.full(shape, NOTHING, jnp.int32).at[:, -1].set(labels),
            filled,
            None if stored_at is None else jnp.where(filled, stored_at, NOT_STORED),
        )

    def _pushed(
        self, stacks: Stacks, evicted: Array, seen: Array, rows: Array, labels: Array
    ) -> Stacks:
        def push(column: Array, new: Array | bool) -> Array:
            kept = self._kept[evicted].reshape(*column.shape[:2], *[1] * (column.ndim - 2))
            return jnp.take_along_axis(column, kept, axis=1).at[:, -1].set(new)

        after = Stacks(
            push(stacks.shown, seen),
            push(stacks.rows, rows),
            push(stacks.labels, labels),
            push(stacks.filled, True),
        )
        if stacks.stored_at is None:
            return after
        return after._replace(stored_at=push(stacks.stored_at, stacks.stored_at[:, -1] + 1))


def _moved_to_the_head(stacks: Stacks) -> Stacks:
    """The stacks at the beginning of a rollout: what they hold stands in its first rows."""
    held = stacks.rows != PADDING
    rows = jnp.arange(1, 1 + held.size, dtype=jnp.int32).reshape(held.shape)
    return stacks._replace(rows=jnp.where(held, rows, PADDING))


def _rows(part: Array, like: Array) -> Array:
    """One row for each observation of the shape that ``like`` (environments, k, ...) holds."""
    return part.reshape(-1, *like.shape[2:])


def _empty_row(empty: Any, like: Array) -> Array:
    return jnp.broadcast_to(jnp.asarray(empty, like.dtype), (1, *like.shape[2:]))


def _n_held(stacks: Stacks) -> Array:
    """(environments,): how many slots show an observation."""
    return (stacks.rows != PADDING).sum(axis=1)


def _where(mask: Array, new: Array, old: Array) -> Array:
    return jnp.where(mask.reshape(-1, *[1] * (new.ndim - 1)), new, old)


def _shown(now: Reset, n: int) -> Array:
    """What the observations show; nothing, if the task does not say."""
    return now.extras.get("shown", jnp.full(n, NOTHING)).astype(jnp.int32)


def _cue(now: Reset, n: int) -> Array:
    cue = now.extras.get("cue")
    return jnp.zeros((n, 0), jnp.int32) if cue is None else cue.reshape(n, -1).astype(jnp.int32)
