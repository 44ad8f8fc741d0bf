"""Environments over every kind of space, with random but seeded observations."""

from __future__ import annotations

from copy import deepcopy

import gymnasium as gym
import numpy as np
from gymnasium import spaces

OBSERVATION_SPACES = {
    "box_vector": spaces.Box(-1, 1, (3,), np.float32),
    "box_scalar": spaces.Box(0, 1, (), np.float64),
    "box_image": spaces.Box(0, 255, (4, 5, 3), np.uint8),
    "box_positive": spaces.Box(2, 3, (2,), np.float32),
    "discrete": spaces.Discrete(5),
    "discrete_start": spaces.Discrete(4, start=-2),
    "multi_discrete": spaces.MultiDiscrete([3, 4]),
    "multi_discrete_matrix": spaces.MultiDiscrete([[3, 4], [5, 6]]),
    "multi_binary": spaces.MultiBinary(3),
    "multi_binary_matrix": spaces.MultiBinary((2, 2)),
    "dict": spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0, 1, (2,), np.float32)}),
    "tuple": spaces.Tuple((spaces.MultiBinary(2), spaces.Discrete(6))),
    "nested": spaces.Dict(
        {
            "x": spaces.Tuple((spaces.Discrete(3), spaces.Box(0, 1, (1,), np.float32))),
            "y": spaces.Dict({"z": spaces.MultiDiscrete([2, 3])}),
        }
    ),
    "text": spaces.Text(min_length=1, max_length=5),
    "graph": spaces.Graph(spaces.Box(0, 1, (2,), np.float32), spaces.Discrete(3)),
    "sequence": spaces.Sequence(spaces.Discrete(4)),
    "dict_with_text": spaces.Dict({"t": spaces.Text(4), "n": spaces.Discrete(3)}),
}

ACTION_SPACES = {
    "discrete": spaces.Discrete(3),
    "discrete_start": spaces.Discrete(3, start=5),
    "multi_discrete": spaces.MultiDiscrete([2, 3]),
    "multi_discrete_matrix": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "multi_binary": spaces.MultiBinary(3),
    "box": spaces.Box(-1, 1, (2,), np.float32),
    "box_matrix": spaces.Box(-2, 3, (2, 2), np.float64),
    "dict": spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0, 1, (2,), np.float32)}),
    "tuple": spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (1,), np.float32))),
}


class RandomEnv(gym.Env):
    """Draws observations from its space; episodes end by chance, so their lengths differ."""

    def __init__(self, observation_space, action_space=None, stop=0.2):
        self.observation_space = observation_space
        self.action_space = action_space or spaces.Discrete(3)
        self.stop = stop
        self.received = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {"note": 1.5}

    def step(self, action):
        self.received.append(action)
        terminated = bool(self.np_random.random() < self.stop)
        truncated = bool(self.np_random.random() < self.stop / 2)
        observation = self.observation_space.sample()
        return observation, float(self.np_random.random()), terminated, truncated, {"note": 2.5}


def random_env(name, **kwargs):
    """An environment with a space of its own, so that environments never share a generator."""
    return RandomEnv(deepcopy(OBSERVATION_SPACES[name]), **kwargs)


def equal(a, b):
    """Whether two observations (or infos) are the same, types of arrays included."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return (
            isinstance(b, tuple)
            and len(a) == len(b)
            and all(equal(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, np.ndarray) and a.dtype == object:
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and np.array_equal(a, b)
        )
    return type(a) is type(b) and a == b
