"""What a memory costs: single and vector wrappers beside Gymnasium's own frame stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.wrappers import FrameStackObservation

from adastack.bench.figure import Figure, episodes, interleaved
from adastack.tasks.environment import FiniteTaskVectorEnv
from adastack.tasks.tmaze import passive_tmaze
from adastack.wrappers import AdaptiveStack, vector

SINGLE_STEPS = 4000
VECTOR_ENVS = 256
MAZE_ENVS = 1024
VECTOR_STEPS = 200


def measure() -> list[Figure]:
    """The figures of the wrappers."""
    times = interleaved(
        {
            "bare": episodes(_cartpole(), [1] * SINGLE_STEPS),
            "theirs": episodes(FrameStackObservation(_cartpole(), 4), [1] * SINGLE_STEPS),
            "ours": episodes(AdaptiveStack(_cartpole(), 4), [np.array([1, 0])] * SINGLE_STEPS),
            "vector bare": _vector(_cartpoles()),
            "vector ours": _vector(vector.AdaptiveStack(_cartpoles(), 4)),
            "maze": _vector(_mazes()),
        }
    )
    theirs = (times["theirs"] - times["bare"]) / SINGLE_STEPS
    ours = (times["ours"] - times["bare"]) / SINGLE_STEPS
    per_env = (times["vector ours"] - times["vector bare"]) / VECTOR_STEPS / VECTOR_ENVS
    maze_rate = MAZE_ENVS * VECTOR_STEPS / times["maze"]
    return [
        Figure(
            "cost of AdaptiveStack(4) on a CartPole step / of Gymnasium's FrameStackObservation(4)",
            ours / theirs,
            "x",
            0.5,
            at_most=True,
        ),
        Figure(
            f"the same for the vector version, {VECTOR_ENVS} environments, per environment step",
            per_env / theirs,
            "x",
            0.05,
            at_most=True,
        ),
        Figure(f"Passive-TMaze with AS(2), {MAZE_ENVS} environments", maze_rate, "steps/s", 5e6),
    ]


def _cartpole() -> gym.Env[Any, Any]:
    return gym.make("CartPole-v1").unwrapped


def _cartpoles() -> VectorEnv[Any, Any, Any]:
    return gym.make_vec(
        "CartPole-v1", num_envs=VECTOR_ENVS, vectorization_mode="vector_entry_point"
    )


def _mazes() -> VectorEnv[Any, Any, Any]:
    mazes = FiniteTaskVectorEnv(passive_tmaze(length=16), MAZE_ENVS)
    return vector.AdaptiveStack(mazes, 2, padding_type="empty")


def _vector(envs: VectorEnv[Any, Any, Any]) -> Callable[[], None]:
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(16)]

    def run() -> None:
        envs.reset(seed=0)
        for step in range(VECTOR_STEPS):
            envs.step(actions[step % 16])

    return run
