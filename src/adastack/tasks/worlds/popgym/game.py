"""What the twins share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from adastack.tasks.functional import State, Step


class Game:
    """A base of functional tasks: a step is put together from what happened in it."""

    time_limit: int | None = None

    def observe(self, state: Any) -> Array:
        """What is seen of a state."""
        raise NotImplementedError

    def signals(self, state: Any) -> dict[str, Array]:
        """Nothing, unless one observation is the one to remember."""
        return {}

    def stepped(
        self,
        after: State,
        reward: Array,
        *,
        terminated: Array | bool = False,
        truncated: Array | bool = False,
        success: Array | None = None,
    ) -> Step:
        """A step to a state; an attempt that ends with a positive reward is a success.

        Args:
            after: The state.
            reward: The reward.
            terminated: Whether the episode is over.
            truncated: Whether the time is up.
            success: Whether the attempt is one, if the last reward does not say so.
        """
        terminated, truncated = jnp.asarray(terminated), jnp.asarray(truncated)
        over = terminated | truncated
        success = over & (reward > 0) if success is None else success
        extras = {"attempt_over": over, "success": success, **self.signals(after)}
        reward = reward.astype(jnp.float32)
        return Step(after, self.observe(after), reward, terminated, truncated, extras)


def right_or_wrong(right: Array, share: float) -> Array:
    """The reward of an answer: plus or minus its share."""
    return jnp.where(right, share, -share)


def start() -> Array:
    """The clock after a reset."""
    return jnp.zeros((), jnp.int32)
