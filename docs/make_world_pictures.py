"""Draws one picture of each world, with the memory of an agent that uses it well.

Run: python docs/make_world_pictures.py
"""

from pathlib import Path
from typing import Any

import gymnasium as gym
import matplotlib.image
import numpy as np

import adastack  # noqa: F401
from adastack.tasks.worlds.cube.moves import ACTIONS
from adastack.wrappers import AdaptiveStack

FOLDER = Path(__file__).parent / "images"


def remembering(env_id: str, k: int, seed: int, **options: Any) -> AdaptiveStack:
    """A world with an empty memory of k slots, begun."""
    env = AdaptiveStack(
        gym.make(env_id, render_mode="rgb_array", **options), k, padding_type="empty"
    )
    env.reset(seed=seed)
    return env


def cube() -> Any:
    """Looks at all six faces, keeps them, and turns one."""
    env = remembering("adastack/Cube-v0", 6, seed=4, depth=2)
    looks = ["look left"] * 3 + ["look up", "look up"]
    for action in looks:
        env.step([ACTIONS.index(action), 0])
    return env.render()


def minigrid() -> Any:
    """Has seen the key in the start room, kept it, and stands where it must choose."""
    env = remembering("adastack/MiniGridMemory-v0", 2, seed=0, size=13)
    env.unwrapped.stand(10, 4, 6, 2, 5, 6)
    turn, forward = 1, 2
    env.step([forward, 0])
    env.step([turn, 0])
    for action in [turn] + [forward] * 7:
        env.step([action, 1])
    return env.render()


def fetch() -> Any:
    """Keeps the goal that it saw, and the last two moments beside it."""
    env = remembering("adastack/FetchReach-v0", 4, seed=3)
    attempt = env.unwrapped.attempt
    for step in range(10):
        away = np.append(attempt.goal - attempt.arm.gripper, 0)
        env.step((np.clip(4 * away, -1, 1).astype(np.float32), 0 if step < 3 else 1))
    return env.render()


def concentration() -> Any:
    """Keeps a view of the table with two cards that do not match."""
    env = remembering("adastack/PopgymConcentration-v0", 2, seed=0)
    for card, slot in ((3, 0), (18, 1), (29, 0), (30, 1), (44, 1), (7, 1)):
        env.step([card, slot])
    return env.render()


def cartpole(env_id: str) -> Any:
    """Keeps the moment before."""
    env = remembering(env_id, 2, seed=1)
    for action in (1, 1, 0, 1, 1, 1):
        env.step([action, 0])
    return env.render()


if __name__ == "__main__":
    pictures = {
        "cube": cube(),
        "minigrid-memory": minigrid(),
        "fetch-reach": fetch(),
        "popgym-concentration": concentration(),
        "velocity-only-cartpole": cartpole("adastack/VelocityOnlyCartPole-v0"),
        "position-only-cartpole": cartpole("adastack/PositionOnlyCartPole-v0"),
    }
    for name, picture in pictures.items():
        matplotlib.image.imsave(FOLDER / f"{name}.png", picture)
