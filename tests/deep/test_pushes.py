"""Real-valued actions that must persist: what noise that is held lets the defaults learn."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from adastack import Agent


class Cart(gym.Env):
    """Pushes add up; a cart that is one metre to the right after 40 steps is paid for.

    Pushes that are drawn anew at each step move it by 18 cm, in standard deviations.
    """

    observation_space = spaces.Box(-2, 2, (1,), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.clock = 0.0, 0
        return self._seen(), {}

    def step(self, action):
        self.place += 0.04 * float(action[0])
        self.clock += 1
        over = self.clock == 40
        right = bool(over and self.place > 1)
        return self._seen(), float(right), over, False, {"is_success": right}

    def _seen(self):
        return np.array([self.place], np.float32)


def success(**settings):
    agent = Agent(Cart, k=2, algo="ppo", seed=0, **settings)
    agent.learn(24_000)
    return agent.evaluate(episodes=50)["success"]


def test_a_push_that_persists_is_found():
    assert success() >= 0.95


@pytest.mark.slow
def test_it_is_not_found_by_pushes_that_are_drawn_anew():
    assert success(hold_real=False) == 0
