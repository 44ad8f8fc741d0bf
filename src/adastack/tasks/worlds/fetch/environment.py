"""FetchReach with hidden speeds and a goal that is shown only for a moment.

The arm never rests: every ``goal_period`` steps a new goal is drawn, the arm stays where it is, and
nothing tells the agent but the goal itself, in view for ``visible_steps`` observations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.base import TaskEnv
from adastack.tasks.checks import checked_render_mode
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.worlds.fetch.arm import REACH, Floats
from adastack.tasks.worlds.fetch.attempt import Attempt, FetchReach, Reached
from adastack.tasks.worlds.fetch.drawing import draw

RENDER_MODES = ("rgb_array",)
N_ACTIONS = 4
N_NUMBERS = 13


class FetchReachEnv(TaskEnv):
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
        >>> from adastack.tasks.worlds.fetch.attempt import GOAL
        >>> from adastack.tasks.worlds.fetch.environment import FetchReachEnv
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

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Puts the arm back and draws a goal."""
        super().reset(seed=seed)
        self.attempt.reset(self.np_random)
        self._over = False
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
        self._check_episode()
        reached = self.attempt.step(shift, self.np_random)
        return self._observation(), reached.reward, False, False, self._info(reached)

    def _picture(self, memory: Slots | None) -> Image:
        return draw(self.attempt, memory)

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
