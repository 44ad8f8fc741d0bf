"""Base classes of the tasks' environments: checks, rendering, construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from adastack.tasks.checks import (
    checked_autoreset_mode,
    checked_num_envs,
    checked_render_mode,
)
from adastack.tasks.drawing.canvas import Slots


class TaskEnv(gymnasium.Env[Any, Any]):
    """A single environment: it checks that an episode runs and renders a memory below the task."""

    _over: bool | None = None
    """Whether the episode is over; None before the first reset."""

    def render(self) -> Any:
        """The picture in the render mode; None if there is no render mode."""
        return self.render_with_memory(None, None, None)

    def render_with_memory(
        self,
        slots: Sequence[Any] | NDArray[Any] | None,
        ages: Sequence[int] | None,
        evicted_slot: int | None,
    ) -> Any:
        """The picture with a memory stack, for wrappers that hold one.

        Args:
            slots: The observation in each slot, oldest first.
            ages: Steps since each slot's observation came; -1 for an empty slot.
            evicted_slot: The slot that was just evicted; None or -1 after a reset.
        """
        if self.render_mode is None:
            return None
        if self._over is None:
            raise ResetNeeded("there is nothing to draw yet: call reset() first")
        return self._picture(None if slots is None else Slots(slots, ages, evicted_slot))

    def _picture(self, memory: Slots | None) -> Any:
        raise NotImplementedError

    def _check_episode(self) -> None:
        if self._over is not False:
            raise ResetNeeded("there is no episode to step in: call reset() first")


class TaskVectorEnv(VectorEnv[Any, Any, Any]):
    """A vector environment that steps all its agents itself."""

    def __init__(
        self,
        num_envs: int,
        spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
        metadata: Mapping[str, Any],
    ) -> None:
        self.num_envs = checked_num_envs(num_envs)
        self.autoreset_mode = checked_autoreset_mode(autoreset_mode)
        self.render_mode = checked_render_mode(render_mode, metadata["render_modes"])
        self.metadata = {**metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def render(self) -> tuple[Any, ...] | None:
        """The picture of every agent's task; None if there is no render mode."""
        if self.render_mode is None:
            return None
        if not self._begun:
            raise ResetNeeded("there is nothing to draw yet: call reset() first")
        return tuple(self._pictures())

    @property
    def _begun(self) -> bool:
        """Whether there has been a reset."""
        raise NotImplementedError

    def _pictures(self) -> Iterable[Any]:
        raise NotImplementedError

    def _check_episodes(self, over: NDArray[Any]) -> None:
        """Raises if an agent cannot be stepped; ``over`` are those whose episode is over."""
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() first")
        if len(over) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise ResetNeeded(
                f"the episode of environment {over[0]} is over: reset it with "
                f"options={{'reset_mask': mask}}"
            )
