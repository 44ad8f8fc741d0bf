"""CartPole of which the agent sees only the speeds, or only the positions, as in POPGym.

`adastack.tasks.worlds.cartpole.functional` is the same task for compiled rollouts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.spaces import Box
from numpy.typing import NDArray

from adastack.tasks.base import TaskEnv
from adastack.tasks.checks import (
    checked_action,
    checked_integer,
    checked_number,
    checked_render_mode,
)
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.worlds.cartpole.drawing import draw

SHOWN = {"position": (0, 2), "velocity": (1, 3)}
"""The entries of the state (cart's position and speed, pole's angle and speed) that are seen."""

TIME_LIMIT = 600
X_LIMIT = 2.4
ANGLE_LIMIT = 12 * 2 * np.pi / 360
RENDER_MODES = ("rgb_array",)


class MaskedCartPoleEnv(TaskEnv, CartPoleEnv):
    """CartPole with half of its state hidden; each step pays 1 / ``time_limit``.

    Step for step POPGym's VelocityOnly and PositionOnly CartPole ("Hard": 600 steps), but for one
    thing: there, the velocity-only task shows the positions after a reset; here it never does.

    POPGym's NoisyPositionOnly CartPole ("Hard") is ``noise=0.3, time_limit=200``, and its
    ``PreviousAction`` wrapper is ``previous_action``.

    Args:
        shows: ``"velocity"`` or ``"position"``.
        time_limit: Steps after which an episode is truncated.
        noise: The standard deviation of the noise on what is seen.
        previous_action: Whether the last action is seen, too: 0 or 1, and 0 after a reset.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.cartpole.environment import MaskedCartPoleEnv
        >>> env = MaskedCartPoleEnv("velocity")
        >>> observation, info = env.reset(seed=0)
        >>> bool((observation == env.state[[1, 3]].astype("float32")).all())
        True
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        shows: str = "velocity",
        time_limit: int = TIME_LIMIT,
        noise: float = 0.0,
        previous_action: bool = False,
        render_mode: str | None = None,
    ) -> None:
        check_view(shows, noise)
        super().__init__(render_mode=checked_render_mode(render_mode, RENDER_MODES))
        self.shows = shows
        self.time_limit = checked_integer("time_limit", time_limit, 1)
        self.noise, self.previous_action = noise, previous_action
        self.observation_space = view_space(shows, previous_action)
        self._seen = list(SHOWN[shows])
        self._clock = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode near balance."""
        state, _ = super().reset(seed=seed, options=options)
        self._clock, self._over = 0, False
        return self._view(state, 0), {"attempt_over": False, "success": False}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Pushes the cart left (0) or right (1).

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If the episode is over or has not begun.
        """
        index = checked_action(action, 2)
        self._check_episode()
        state, _, terminated, _, _ = super().step(index)  # type: ignore[no-untyped-call]
        self._clock += 1
        truncated = self._clock >= self.time_limit
        self._over = terminated or truncated
        info = {"attempt_over": self._over, "success": truncated and not terminated}
        return self._view(state, index), 1.0 / self.time_limit, terminated, truncated, info

    def _view(self, state: NDArray[np.float32], action: int) -> NDArray[np.float32]:
        seen: NDArray[np.float32] = state[self._seen]
        if self.noise:
            space = view_space(self.shows)
            drawn = self.np_random.normal(0, self.noise, 2).astype(np.float32)
            seen = np.clip(seen + drawn, space.low, space.high)
        return np.append(seen, np.float32(action)) if self.previous_action else seen

    def _picture(self, memory: Slots | None) -> Image:
        assert self.state is not None, "there has been a reset"
        return draw(self.state, self.shows, memory)


def view_space(shows: str, previous_action: bool = False) -> Box:
    """The observation space; it contains a fallen pole."""
    bounds = {"position": [2 * X_LIMIT, 2 * ANGLE_LIMIT], "velocity": [np.inf, np.inf]}[shows]
    last = [1.0] if previous_action else []
    high = np.array([*bounds, *last], np.float32)
    low = np.array([*(-bound for bound in bounds), *(0.0 for _ in last)], np.float32)
    return Box(low, high, dtype=np.float32)


def check_view(shows: str, noise: float) -> None:
    """Raises a ValueError if there is no such mask, or no such noise."""
    if shows not in SHOWN:
        raise ValueError(f"expected shows of {tuple(SHOWN)}, actual: {shows!r}")
    checked_number("noise", noise, 0)
