"""A functional task as a vector environment: all agents in one compiled step."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from jax import Array
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.base import TaskVectorEnv
from adastack.tasks.checks import (
    Bools,
    checked_actions,
    checked_mask,
    checked_numbers,
    masked,
    with_presence,
)
from adastack.tasks.functional import (
    FunctionalTask,
    FunctionalTaskEnv,
    Reset,
    State,
    Step,
    reset_with_signals,
)


@partial(jax.jit, static_argnums=(0, 1))
def reset_all(task: FunctionalTask, num_envs: int, key: Array) -> tuple[Array, Reset]:
    """New episodes everywhere, and the generator that goes on."""
    key, now = jax.random.split(key)
    return key, jax.vmap(partial(reset_with_signals, task))(jax.random.split(now, num_envs))


@partial(jax.jit, static_argnums=0)
def reset_some(task: FunctionalTask, key: Array, mask: Array, kept: Reset) -> tuple[Array, Reset]:
    """New episodes where the mask is True, what was there elsewhere."""
    key, begun = reset_all(task, len(mask), key)

    def chosen(new: Array, old: Array) -> Array:
        return jnp.where(mask.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return key, jax.tree.map(chosen, begun, kept)


@partial(jax.jit, static_argnums=0)
def step_all(task: FunctionalTask, key: Array, state: State, actions: Array) -> tuple[Array, Step]:
    """One action for every agent."""
    key, now = jax.random.split(key)
    keys = jax.random.split(now, len(actions))
    return key, jax.vmap(task.step)(keys, state, actions)


class FunctionalTaskVectorEnv(TaskVectorEnv):
    """Many agents in a functional task, stepped by one compiled program.

    Args:
        task: The task.
        num_envs: How many agents.
        autoreset_mode: When an agent whose episode is over begins the next one.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.cube.functional import Cube
        >>> from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
        >>> envs = FunctionalTaskVectorEnv(Cube(depth=1), num_envs=3)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations.shape
        (3, 4)
    """

    def __init__(
        self,
        task: FunctionalTask,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        spaces = task.observation_space, task.action_space
        super().__init__(num_envs, spaces, autoreset_mode, render_mode, FunctionalTaskEnv.metadata)
        self.task = task
        self.attempt_limit = task.time_limit or 0
        """Steps after which every attempt is over; 0 if nothing is known."""
        self._now: Reset | None = None
        """Where the agents stand; None before the first reset."""
        self._over: Bools = np.zeros(num_envs, np.bool_)
        """Whose episode is over and has not been reset."""
        self._key: Array

    @property
    def state(self) -> State:
        """The hidden states; None before the first reset."""
        return None if self._now is None else self._now.state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins new episodes.

        Args:
            seed: Seeds the one generator that all agents draw from.
            options: ``{"reset_mask": mask}`` resets only the agents whose entry is True.
        """
        mask = checked_mask(options, self.num_envs, begun=self._begun)
        super().reset(seed=seed)
        if seed is not None or self._now is None:
            first = self.np_random.integers(2**32, dtype=np.uint32)
            self._key = jax.random.key(first)
        if self._now is None or mask.all():
            self._key, self._now = reset_all(self.task, self.num_envs, self._key)
        else:
            self._key, self._now = reset_some(self.task, self._key, mask, self._now)
        self._over = self._over & ~mask
        infos = self._infos()
        return self._observations(), infos if mask.all() else masked(infos, mask)

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[Any], Bools, Bools, dict[str, Any]]:
        """Takes one action for every agent.

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If no episode has begun, or one is over and autoreset is disabled.
        """
        taken = self._checked(actions)
        self._check_episodes(np.flatnonzero(self._over))
        self._key, step = step_all(self.task, self._key, self.state, taken)
        self._now = Reset(step.state, step.observation, step.extras)
        reward = np.array(step.reward, np.float64)
        terminated, truncated = np.array(step.terminated), np.array(step.truncated)
        if self._over.any():
            self._restart(self._over)
            reward[self._over], terminated[self._over], truncated[self._over] = 0, False, False
        self._over = terminated | truncated
        if self._over.any() and self.autoreset_mode is AutoresetMode.SAME_STEP:
            observations, infos = self._reset_in_step()
        else:
            observations, infos = self._observations(), self._infos()
        return observations, reward, terminated, truncated, infos

    def _checked(self, actions: ArrayLike) -> NDArray[Any]:
        """One action for each agent, as ``step`` takes them."""
        space = self.task.action_space
        if isinstance(space, Box):
            return checked_numbers(actions, (self.num_envs, *space.shape))
        return checked_actions(actions, self.num_envs, int(space.n)).astype(np.int32)

    @property
    def _begun(self) -> bool:
        return self._now is not None

    def _pictures(self) -> Iterable[NDArray[np.uint8]]:
        states = jax.device_get(self.state)
        return (
            self.task.draw(jax.tree.map(lambda leaf, i=i: leaf[i], states))
            for i in range(self.num_envs)
        )

    def _restart(self, mask: Bools) -> None:
        self._key, self._now = reset_some(self.task, self._key, mask, self._now)

    def _reset_in_step(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begins new episodes and keeps what was seen last in ``final_*``."""
        over, self._over = self._over, np.zeros(self.num_envs, np.bool_)
        last = self._observations()
        final_obs = np.full(self.num_envs, None, object)
        for index in np.flatnonzero(over):
            final_obs[index] = last[index]
        final_info = masked(self._infos(), over)
        self._restart(over)
        finals = {"final_obs": final_obs, "final_info": final_info}
        masks = {"_final_obs": over, "_final_info": over.copy()}
        return self._observations(), self._infos() | finals | masks

    def _observations(self) -> NDArray[Any]:
        assert self._now is not None
        return np.array(self._now.observation, self.single_observation_space.dtype)

    def _infos(self) -> dict[str, Any]:
        assert self._now is not None
        infos = {name: np.array(value) for name, value in self._now.extras.items()}
        return with_presence(infos, self.num_envs)
