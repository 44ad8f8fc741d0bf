"""Many FetchReach arms in one process, moved by as many threads as there are cores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.base import TaskVectorEnv
from adastack.tasks.checks import Bools, checked_mask, masked, with_presence
from adastack.tasks.drawing.canvas import Image
from adastack.tasks.worlds.fetch.arm import Floats
from adastack.tasks.worlds.fetch.attempt import Attempt, FetchReach, Reached
from adastack.tasks.worlds.fetch.drawing import draw
from adastack.tasks.worlds.fetch.environment import (
    N_ACTIONS,
    N_NUMBERS,
    FetchReachEnv,
    action_space,
    observation_space,
    shifts,
)

NOTHING = Reached(0.0, False, False)


class FetchReachVectorEnv(TaskVectorEnv):
    """Many `FetchReachEnv` stepped together, with the same results.

    MuJoCo lets other threads run while it computes, so threads are enough to use all cores, and
    nothing has to be sent between processes.

    Args:
        num_envs: How many arms.
        goal_period: Steps after which the goal changes.
        visible_steps: Observations that show a new goal.
        autoreset_mode: Has no effect: no episode ever ends.
        threads: Threads that move the arms; None for one per core that this process may use.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.fetch.vector import FetchReachVectorEnv
        >>> envs = FetchReachVectorEnv(num_envs=2)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations.shape, infos["cue"].tolist()
        ((2, 13), [[0], [0]])
        >>> envs.close()
    """

    def __init__(
        self,
        num_envs: int = 1,
        goal_period: int = 50,
        visible_steps: int = 2,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        task = FetchReach(goal_period, visible_steps)
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, actual: {threads}")
        spaces = observation_space(), action_space()
        super().__init__(num_envs, spaces, autoreset_mode, render_mode, FetchReachEnv.metadata)
        self.attempt_limit = task.goal_period
        """Steps after which every attempt is over."""
        self.attempts = [Attempt(task) for _ in range(num_envs)]
        """The arms and their goals."""
        self._generators: list[np.random.Generator] = []
        count = min(num_envs, _cores() if threads is None else threads)
        self._shares = [range(first, num_envs, count) for first in range(count)]
        self._pool = ThreadPoolExecutor(count, "fetch") if count > 1 else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Puts the arms back and draws goals.

        Args:
            seed: The first arm's generator is seeded with it, the next with one more, and so on.
            options: ``{"reset_mask": mask}`` resets only the arms whose entry is True.
        """
        mask = checked_mask(options, self.num_envs, begun=self._begun)
        if seed is not None or not self._generators:
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
            self._generators = [seeding.np_random(number)[0] for number in seeds]
        for index in np.flatnonzero(mask):
            self.attempts[index].reset(self._generators[index])
        infos = self._infos([NOTHING] * self.num_envs)
        return self._observations(), infos if mask.all() else masked(infos, mask)

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], Floats, Bools, Bools, dict[str, Any]]:
        """Moves every arm.

        Raises:
            ValueError: If the actions are not four finite numbers for each arm.
            ResetNeeded: If no episode has begun.
        """
        moves = shifts(actions, (self.num_envs, N_ACTIONS))
        self._check_episodes(np.zeros(0))
        reached = [NOTHING] * self.num_envs

        def work(share: range) -> None:
            for index in share:
                attempt, generator = self.attempts[index], self._generators[index]
                reached[index] = attempt.step(moves[index], generator)

        if self._pool is None:
            work(self._shares[0])
        else:
            list(self._pool.map(work, self._shares))
        rewards = np.array([one.reward for one in reached])
        never = np.zeros((2, self.num_envs), np.bool_)
        return self._observations(), rewards, never[0], never[1], self._infos(reached)

    def close_extras(self, **kwargs: Any) -> None:
        """Shuts the threads down."""
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def _begun(self) -> bool:
        return bool(self._generators)

    def _pictures(self) -> Iterable[Image]:
        return (draw(attempt) for attempt in self.attempts)

    def _observations(self) -> NDArray[np.float32]:
        rows = np.zeros((self.num_envs, N_NUMBERS), np.float32)
        for attempt, row in zip(self.attempts, rows, strict=True):
            attempt.write(row)
        return rows

    def _infos(self, reached: list[Reached]) -> dict[str, Any]:
        over = np.array([one.attempt_over for one in reached])
        close = np.array([one.close for one in reached])
        infos = {
            "shown": np.array([attempt.shown for attempt in self.attempts]),
            "cue": np.array([[attempt.goal_number] for attempt in self.attempts]),
            "attempt_over": over,
            "success": over & close,
            "is_success": close,
        }
        return with_presence(infos, self.num_envs)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
