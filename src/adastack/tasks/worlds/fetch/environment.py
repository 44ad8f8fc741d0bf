"""FetchReach with hidden speeds and a goal that is shown only for a moment.

The arm never rests: every ``goal_period`` steps a new goal is drawn, the arm stays where it is, and
nothing tells the agent but the goal itself, in view for ``visible_steps`` observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.checks import checked_render_mode, checked_whole
from adastack.tasks.drawing.canvas import Image
from adastack.tasks.worlds.fetch.arm import REACH, Arm, Floats

RENDER_MODES = ("rgb_array",)
GOAL_RANGE = 0.15
"""Goals are drawn within this distance of the gripper's first place, along each axis."""

CLOSE = 0.05
"""A goal is reached within this distance."""

N_ACTIONS = 4
N_NUMBERS = 13
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
            object.__setattr__(self, name, checked_whole(name, getattr(self, name), 1))


class Reached(NamedTuple):
    """What a step comes to."""

    reward: float
    close: bool
    """Whether the gripper is at the goal that was to be reached."""
    attempt_over: bool
    """Whether the goal has changed."""


class Attempt:
    """One arm and its goals; what the environment and its vector form have in common."""

    def __init__(self, task: FetchReach) -> None:
        self.task = task
        self.arm = Arm()
        self.goal: Floats = np.zeros(3)
        self.goal_number = 0
        self.clock = 0
        """Steps since the goal changed."""

    def reset(self, generator: np.random.Generator) -> None:
        """Begins anew, with a goal drawn as the package draws it."""
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


class FetchReachEnv(gymnasium.Env[Any, Any]):
    """Reach goals that are shown for a moment and change for ever.

    An observation has 13 numbers: the package's 10 (gripper, fingers, and their five speeds, which
    are always zero here) and the goal (zeros while it is hidden). The reward is the negative
    distance to the goal. An attempt is the time of one goal; it succeeds if the gripper is within
    5 cm at its end.

    Args:
        goal_period: Steps after which the goal changes.
        visible_steps: Observations that show a new goal.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.fetch.environment import GOAL, FetchReachEnv
        >>> env = FetchReachEnv(goal_period=50, visible_steps=2)
        >>> observation, info = env.reset(seed=0)
        >>> seen = [bool(env.step([0, 0, 0, 0])[0][GOAL].any()) for _ in range(50)]
        >>> seen.index(False), seen.index(True, 1)
        (1, 49)
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 25}  # noqa: RUF012

    def __init__(
        self, goal_period: int = 50, visible_steps: int = 2, render_mode: str | None = None
    ) -> None:
        task = FetchReach(goal_period, visible_steps)
        self.render_mode = checked_render_mode(render_mode, RENDER_MODES)
        self.attempt = Attempt(task)
        """The arm and its goal."""
        self.observation_space = observation_space()
        self.action_space = action_space()
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Puts the arm back and draws a goal."""
        super().reset(seed=seed)
        self.attempt.reset(self.np_random)
        self._begun = True
        return self._observation(), self._info(Reached(0.0, False, False))

    def step(
        self, action: ArrayLike
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Moves the gripper by up to 5 cm along each axis; the fourth number does nothing.

        Raises:
            ValueError: If the action is not four finite numbers.
            ResetNeeded: If no episode has begun.
        """
        shift = shifts(action, (N_ACTIONS,))
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() first")
        reached = self.attempt.step(shift, self.np_random)
        return self._observation(), reached.reward, False, False, self._info(reached)

    def render(self) -> Image | None:
        """The arm and its goal."""
        return self.render_with_memory(None, None, None)

    def render_with_memory(
        self,
        slots: NDArray[Any] | None,
        ages: Sequence[int] | None,
        evicted_slot: int | None,
    ) -> Image | None:
        """The picture with a memory stack, for wrappers that hold one.

        Args:
            slots: The observation in each slot, oldest first.
            ages: Steps since each slot's observation came; -1 for an empty slot.
            evicted_slot: The slot that was just given up; None or -1 after a reset.
        """
        if self.render_mode is None:
            return None
        if not self._begun:
            raise ResetNeeded("there is nothing to draw yet: call reset() first")
        from adastack.tasks.worlds.fetch.drawing import draw

        return draw(self.attempt, slots, ages, evicted_slot)

    def _observation(self) -> NDArray[np.float32]:
        row = np.zeros(N_NUMBERS, np.float32)
        self.attempt.write(row)
        return row

    def _info(self, reached: Reached) -> dict[str, Any]:
        return {
            "shown": self.attempt.shown,
            "cue": np.array([self.attempt.goal_number]),
            "attempt_over": reached.attempt_over,
            "success": reached.attempt_over and reached.close,
            "is_success": reached.close,
        }


def observation_space() -> Box:
    """Thirteen numbers."""
    return Box(-np.inf, np.inf, (N_NUMBERS,), np.float32)


def action_space() -> Box:
    """Four numbers between -1 and 1."""
    return Box(-1.0, 1.0, (N_ACTIONS,), np.float32)


def shifts(actions: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """How far actions of this shape move the gripper, in metres.

    Raises:
        ValueError: If they have another shape or are not finite.
    """
    given = np.asarray(actions, np.float32)
    if given.shape != shape or not np.isfinite(given).all():
        actual = "not all finite" if given.shape == shape else f"shape {given.shape}"
        raise ValueError(f"expected finite numbers of shape {shape} as action, actual: {actual}")
    # Single precision up to here, as in the package.
    return (np.clip(given, -1, 1)[..., :3] * np.float32(REACH)).astype(np.float64)
