"""An agent for an environment of your own: a cue, 30 distractors, a decision.

python examples/own_agent.py [--steps 200000]
"""

import argparse

import gymnasium as gym
import numpy as np

from adastack import Agent


class Delay(gym.Env):
    """Shows a sign within the first five steps, then noise, and asks for the sign at the end."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, delay=30):
        self.delay = delay

    def reset(self, *, seed=None, options=None):
        """Draws a sign and the step at which it is shown."""
        super().reset(seed=seed)
        self.sign, self.shown_at = self.np_random.integers([2, 5])
        self.clock = 0
        return self._observation(), {}

    def step(self, action):
        """Pays at the end alone."""
        asked = self.clock == self.shown_at + self.delay
        right = bool(asked and action == self.sign)
        self.clock += 1
        reward = float(2 * right - 1) if asked else 0.0
        return self._observation(), reward, bool(asked), False, {"is_success": right}

    def _observation(self):
        """What it shows: a number, whether that is the sign, whether the sign is asked for."""
        if self.clock == self.shown_at:
            return np.array([2 * self.sign - 1, 1, 0], np.float32)
        asked = self.clock == self.shown_at + self.delay
        return np.array([self.np_random.uniform(-1, 1), 0, asked], np.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    agent = Agent(Delay, k=2).learn(parser.parse_args().steps)
    print("success:", agent.evaluate()["success"])
