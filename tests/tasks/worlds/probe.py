"""A functional task that can be followed with a pencil: a counter, a coin, and a limit."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from adastack.tasks.functional import Step

GOAL = 3


class CountState(NamedTuple):
    count: jax.Array
    coin: jax.Array
    clock: jax.Array


@dataclass(frozen=True)
class Counter:
    """Action 1 counts up, at three the episode is over; the cue is a coin shown at the start."""

    time_limit: int = 5

    @property
    def observation_space(self):
        return Box(-1, 10, (2,), np.float32)

    @property
    def action_space(self):
        return Discrete(2)

    def reset(self, key):
        zero = jnp.zeros((), jnp.int32)
        state = CountState(zero, jax.random.randint(key, (), 0, 2), zero)
        return state, self._observe(state)

    def step(self, key, state, action):
        after = CountState(state.count + action, state.coin, state.clock + 1)
        done = after.count >= GOAL
        late = ~done & (after.clock >= self.time_limit)
        extras = {"attempt_over": done | late, "success": done, **self.signals(after)}
        return Step(
            after, self._observe(after), after.count.astype(jnp.float32) / 10, done, late, extras
        )

    def signals(self, state):
        shown = jnp.where(state.clock == 0, state.coin, -1)
        return {"shown": shown, "cue": state.coin[None]}

    def draw(self, state, memory=None):
        height = 1 if memory is None else 1 + len(memory.observations)
        return np.full((height, 1, 3), int(state.count), np.uint8)

    def _observe(self, state):
        coin = jnp.where(state.clock == 0, state.coin, -1)
        return jnp.stack([state.count, coin]).astype(jnp.float32)
