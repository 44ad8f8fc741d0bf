"""The previous action as a part of what is seen, for any functional task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from jax import Array
from numpy.typing import NDArray

from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.functional import FunctionalTask, State, Step


class WithAction(NamedTuple):
    """A state of the task, and the last action."""

    task: State
    action: Array
    """0 after a reset."""


@dataclass(frozen=True)
class PreviousAction:
    """A functional task whose observations end with the previous action; 0 after a reset.

    Symbols are joined by one more symbol, which networks read as a one-hot vector; numbers are
    joined by the numbers of an action from a box.

    Raises:
        TypeError: If the task shows symbols and takes numbers, or the other way round.

    Example:
        >>> import jax
        >>> from adastack.tasks.functional_previous_action import PreviousAction
        >>> from adastack.tasks.worlds.cube.functional import Cube
        >>> task = PreviousAction(Cube(depth=1))
        >>> state, observation = task.reset(jax.random.key(0))
        >>> task.step(jax.random.key(1), state, jax.numpy.int32(7)).observation[-1].item()
        7
    """

    task: FunctionalTask

    def __post_init__(self) -> None:
        seen, taken = self.task.observation_space, self.task.action_space
        symbols = isinstance(seen, Discrete | MultiDiscrete) and isinstance(taken, Discrete)
        if not symbols and not (isinstance(seen, Box) and isinstance(taken, Box)):
            raise TypeError(
                f"expected symbols and a Discrete action, or a Box and a Box, actual: {seen} and "
                f"{taken}"
            )

    @property
    def observation_space(self) -> MultiDiscrete | Box:
        """What the task shows, then the action."""
        seen, taken = self.task.observation_space, self.task.action_space
        if isinstance(seen, Box) and isinstance(taken, Box):
            low, high = (
                np.concatenate([edge.ravel() for edge in edges])
                for edges in ((seen.low, taken.low), (seen.high, taken.high))
            )
            return Box(low, high, dtype=np.float32)
        assert isinstance(taken, Discrete)
        sizes = seen.nvec if isinstance(seen, MultiDiscrete) else np.array([seen.n])  # type: ignore[attr-defined]
        return MultiDiscrete([*sizes.ravel(), int(taken.n)])

    @property
    def action_space(self) -> Discrete | Box:
        """Those of the task."""
        return self.task.action_space

    @property
    def time_limit(self) -> int | None:
        """That of the task."""
        return self.task.time_limit

    def reset(self, key: Array) -> tuple[WithAction, Array]:
        """Resets the task."""
        state, observation = self.task.reset(key)
        space = self.action_space
        none = jnp.zeros(space.shape, jnp.float32 if isinstance(space, Box) else jnp.int32)
        return WithAction(state, none), self._seen(observation, none)

    def step(self, key: Array, state: WithAction, action: Array) -> Step:
        """Takes one action in the task."""
        step = self.task.step(key, state.task, action)
        seen = self._seen(step.observation, action)
        return step._replace(state=WithAction(step.state, action), observation=seen)

    def signals(self, state: WithAction) -> dict[str, Array]:
        """Those of the task."""
        return self.task.signals(state.task)

    def draw(self, state: WithAction, memory: Slots | None = None) -> NDArray[np.uint8]:
        """The task; what it shows is drawn in the memory, and the actions are not."""
        if memory is not None:
            kept = [self._without_action(np.asarray(seen)) for seen in memory.observations]
            memory = memory._replace(observations=kept)
        return self.task.draw(state.task, memory)

    def _seen(self, observation: Array, action: Array) -> Array:
        parts = (jnp.ravel(observation), jnp.ravel(action).astype(observation.dtype))
        return jnp.concatenate(parts)

    def _without_action(self, seen: NDArray[Any]) -> NDArray[Any]:
        shape = self.task.observation_space.shape
        assert shape is not None
        return np.asarray(seen[: int(np.prod(shape))].reshape(shape))
