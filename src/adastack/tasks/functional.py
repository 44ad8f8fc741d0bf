"""Environments as pure functions, and the Gymnasium environments that come from them.

A compiled rollout calls `reset` and `step` of a `FunctionalTask` inside its own program; everyone
else makes a `FunctionalTaskEnv` or a `FunctionalTaskVectorEnv` of it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Protocol

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete
from jax import Array
from numpy.typing import NDArray

from adastack.tasks.base import TaskEnv
from adastack.tasks.checks import checked_action, checked_numbers, checked_render_mode
from adastack.tasks.drawing.canvas import Slots

RENDER_MODES = ("rgb_array",)

State = Any
"""The hidden state: a tree of arrays."""


class Step(NamedTuple):
    """What one step of a functional task gives."""

    state: State
    observation: Array
    reward: Array
    terminated: Array
    truncated: Array
    extras: dict[str, Array]
    """``attempt_over``, ``success`` and the `signals` of the new state."""


class FunctionalTask(Protocol):
    """A task as pure functions of arrays; hashable, so that it can be a static argument of `jit`.

    The time limit is kept inside: the state counts its steps and ``step`` says ``truncated``.
    Nothing resets by itself: a rollout takes a new state from ``reset`` where an episode is over.
    """

    @property
    def observation_space(self) -> Space[Any]:
        """The observations: one array."""

    @property
    def action_space(self) -> Discrete | Box:
        """The actions; from a box, ``step`` clips them as the task sees fit."""

    @property
    def time_limit(self) -> int | None:
        """Steps after which an episode is truncated."""

    def reset(self, key: Array) -> tuple[State, Array]:
        """An initial state and its observation."""

    def step(self, key: Array, state: State, action: Array) -> Step:
        """Takes one action."""

    def signals(self, state: State) -> dict[str, Array]:
        """What a metric needs to know and an agent does not: ``shown`` and ``cue``, or nothing."""

    def draw(self, state: State, memory: Slots | None = None) -> NDArray[np.uint8]:
        """A picture of the state with the memory below it, if there is one."""


def index_below(count: Array | int, draw: Array) -> Array:
    """An index below ``count``, from a number drawn from 0..1."""
    return jnp.minimum((draw * count).astype(jnp.int32), count - 1)


class Reset(NamedTuple):
    """What a reset gives; the first fields of a `Step`."""

    state: State
    observation: Array
    extras: dict[str, Array]


def reset_with_signals(task: FunctionalTask, key: Array) -> Reset:
    """Resets, with the extras that a step would give."""
    state, observation = task.reset(key)
    no = jnp.zeros((), jnp.bool_)
    return Reset(state, observation, {"attempt_over": no, "success": no, **task.signals(state)})


@partial(jax.jit, static_argnums=0)
def _reset(task: FunctionalTask, seed: Array) -> tuple[Array, Reset]:
    key, now = jax.random.split(jax.random.key(seed))
    return key, reset_with_signals(task, now)


@partial(jax.jit, static_argnums=0)
def _step(task: FunctionalTask, key: Array, state: State, action: Array) -> tuple[Array, Step]:
    key, now = jax.random.split(key)
    return key, task.step(now, state, action)


class FunctionalTaskEnv(TaskEnv):
    """A functional task as a Gymnasium environment.

    Args:
        task: The task.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.cube.functional import Cube
        >>> from adastack.tasks.functional import FunctionalTaskEnv
        >>> env = FunctionalTaskEnv(Cube(depth=1))
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info["success"]
        ((4,), False)
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(self, task: FunctionalTask, render_mode: str | None = None) -> None:
        self.task = task
        self.render_mode = checked_render_mode(render_mode, RENDER_MODES)
        self.observation_space = task.observation_space
        self.action_space = task.action_space
        self.state: State = None
        """The hidden state; None before the first reset."""
        self._key: Array

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        first = self.np_random.integers(2**32, dtype=np.uint32)
        self._key, begun = _reset(self.task, first)
        self.state, self._over = begun.state, False
        return self._observation(begun.observation), _info(begun.extras)

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Takes one action.

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If the episode is over or has not begun.
        """
        taken = _checked(action, self.task.action_space)
        self._check_episode()
        self._key, step = _step(self.task, self._key, self.state, taken)
        self.state = step.state
        terminated, truncated = bool(step.terminated), bool(step.truncated)
        self._over = terminated or truncated
        observation = self._observation(step.observation)
        return observation, float(step.reward), terminated, truncated, _info(step.extras)

    def _picture(self, memory: Slots | None) -> NDArray[np.uint8]:
        return self.task.draw(jax.device_get(self.state), memory)

    def _observation(self, observation: Array) -> NDArray[Any]:
        return np.array(observation, self.observation_space.dtype)


def _checked(action: Any, space: Discrete | Box) -> NDArray[Any]:
    """An action of the space, as ``step`` takes it."""
    if isinstance(space, Box):
        return checked_numbers(action, space.shape)
    return np.asarray(checked_action(action, int(space.n)), np.int32)


def _info(extras: dict[str, Array]) -> dict[str, Any]:
    """The extras of one step as Python and numpy know them."""
    values = {name: np.array(value) for name, value in extras.items()}
    return {name: value if value.ndim else value.item() for name, value in values.items()}
