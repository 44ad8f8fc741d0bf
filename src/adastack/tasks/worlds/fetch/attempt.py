"""One arm and its goals: what the environment and its vector form share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.checks import checked_integer
from adastack.tasks.worlds.fetch.arm import Arm, Floats

GOAL_RANGE = 0.15
"""Goals are drawn within this distance of the gripper's first place, along each axis."""

CLOSE = 0.05
"""A goal is reached within this distance."""

GOAL = slice(10, 13)
"""Where the goal stands in an observation."""


@dataclass(frozen=True)
class FetchReach:
    """The settings of the task."""

    goal_period: int = 50
    """Steps after which the goal changes."""
    visible_steps: int = 2
    """Observations that show a new goal."""

    def __post_init__(self) -> None:
        for name in ("goal_period", "visible_steps"):
            object.__setattr__(self, name, checked_integer(name, getattr(self, name), 1))


class Reached(NamedTuple):
    """The result of one step."""

    reward: float
    close: bool
    """Whether the gripper is at the goal."""
    attempt_over: bool
    """Whether the goal has changed."""


class Attempt:
    """One arm and its goals."""

    def __init__(self, task: FetchReach) -> None:
        self.task = task
        self.arm = Arm()
        self.goal: Floats = np.zeros(3)
        self.goal_number = 0
        self.clock = 0
        """Steps since the goal changed."""

    def reset(self, generator: np.random.Generator) -> None:
        """Resets the arm and draws a goal as the package does."""
        self.arm.reset()
        self.goal_number = -1
        self._change_goal(generator)

    def step(self, shift: Floats, generator: np.random.Generator) -> Reached:
        """Moves the arm; the goal changes when its time is over."""
        self.arm.move(shift)
        self.clock += 1
        away = self.arm.gripper - self.goal
        distance = float(np.sqrt(np.add.reduce(away * away)))
        over = self.clock == self.task.goal_period
        if over:
            self._change_goal(generator)
        return Reached(-distance, distance < CLOSE, over)

    @property
    def visible(self) -> bool:
        """Whether the goal is in view."""
        return self.clock < self.task.visible_steps

    def write(self, row: NDArray[np.float32]) -> None:
        """Writes the observation over zeros: gripper, fingers, five hidden speeds, the goal."""
        row[:3] = self.arm.gripper
        row[3:5] = self.arm.fingers
        row[GOAL] = self.goal if self.visible else 0.0

    @property
    def shown(self) -> int:
        """The number of the goal while it is in view, else -1."""
        return self.goal_number if self.visible else -1

    def _change_goal(self, generator: np.random.Generator) -> None:
        around = generator.uniform(-GOAL_RANGE, GOAL_RANGE, size=3)
        self.goal = self.arm.shared.gripper + around
        self.goal_number += 1
        self.clock = 0
