"""The Passive-TMaze as a Gymnasium environment that needs nothing of adastack."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

LENGTH = 16
CORRIDOR, JUNCTION, RED, GREEN = range(4)


class TMaze(gym.Env[Any, Any]):
    """A cue at the start, a corridor, and a junction where it is asked for."""

    observation_space = gym.spaces.Box(0, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """A new cue."""
        super().reset(seed=seed)
        self._place, self._goal = 0, int(self.np_random.integers(2))
        return self._seen(RED + self._goal), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One cell to the right; at the junction, up or down."""
        self._place += 1
        if self._place == LENGTH:
            right = (int(action) % 4 >= 2) == bool(self._goal)
            return self._seen(CORRIDOR), 1.0 if right else -1.0, True, False, {}
        shown = JUNCTION if self._place == LENGTH - 1 else CORRIDOR
        return self._seen(shown), 0.0, False, False, {}

    def _seen(self, colour: int) -> Any:
        return np.eye(4, dtype=np.float32)[colour]
