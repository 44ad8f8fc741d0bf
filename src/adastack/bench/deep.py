"""How fast the deep learner is: beside Stable-Baselines3, and beside the machine's own limit."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

from adastack.bench.figure import Figure, one_torch_thread
from adastack.deep.finite import FiniteTrainer
from adastack.deep.gym_session import GymSession
from adastack.deep.settings import PPOSettings
from adastack.extras import check_installed
from adastack.process import induce
from adastack.tasks import passive_tmaze, resolve
from adastack.tasks.environment import FiniteTaskEnv
from adastack.wrappers import AdaptiveStack

LENGTH = 16
MASKED = "adastack-bench/MaskedCartPole-v0"
WIDTHS = (10, 128, 128, 128)
"""The paper's MLP on AS(2) in the maze: one-hot inputs, three layers."""
PASSES = 3
"""A training step computes the products forward, and twice as many backward."""


def measure() -> list[Figure]:
    """The figures of the deep learner; each rate is taken on the paper's settings."""
    theirs = _baseline(_maze_env, n_envs=1, updates=6)
    one, ten = _compiled(1, 60), _compiled(10, 20)
    plain, limit = _compiled(1, 20, tables=False), _sgemm_limit()
    ours_host, theirs_host = _host(8), _baseline(_masked_env, n_envs=8, updates=3)
    return [
        Figure("PPO, AS(2), MLP: one seed beside Stable-Baselines3", one / theirs, "x", 20),
        Figure("the same, ten seeds, per seed", ten / theirs, "x", 30),
        Figure("without tables, of what sgemm allows", plain / limit, "x", 0.6),
        Figure("host rollout, masked CartPole x 8, beside SB3", ours_host / theirs_host, "x", 3),
    ]


def _compiled(seeds: int, updates: int, tables: bool = True) -> float:
    """Steps per second over all seeds."""
    settings = PPOSettings(tables=tables)
    trainer = FiniteTrainer(induce(passive_tmaze(LENGTH), "adaptive", 2), settings)
    numbers = jnp.arange(seeds)
    learner = trainer.init(range(seeds))
    best = 0.0
    for repeat in range(4):
        began = time.perf_counter()
        learner, *_ = trainer.chunk(learner, numbers, 0, updates, updates, capacity=updates)
        jax.block_until_ready(learner)  # type: ignore[no-untyped-call]
        rate = seeds * updates * settings.steps_per_update / (time.perf_counter() - began)
        best = max(best, rate if repeat else 0.0)
    return best


def _sgemm_limit() -> float:
    """Steps per second if training were nothing but matrix products at the machine's rate."""
    n = WIDTHS[-1]
    product = jax.jit(lambda a: jax.lax.scan(lambda c, _: (c @ a, None), a, None, length=500)[0])
    matrix = jnp.eye(n)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        product(matrix).block_until_ready()
        best = min(best, time.perf_counter() - began)
    rate = 2 * n**3 * 500 / best
    settings = PPOSettings()
    towers = 2 * sum(2 * a * b for a, b in pairwise(WIDTHS))
    per_step = towers * PASSES * settings.n_epochs
    return rate / per_step


def _host(n_envs: int) -> float:
    _register()
    session = GymSession(resolve(MASKED), "adaptive", 2, PPOSettings(n_envs=n_envs), [0], 100_000)
    session.advance()
    best = 0.0
    for _ in range(4):
        began = time.perf_counter()
        session.advance()
        best = max(best, session.settings.steps_per_update / (time.perf_counter() - began))
    return best


def _baseline(make: Any, n_envs: int, updates: int) -> float:
    """Stable-Baselines3's PPO with the same settings and a network of the same size."""
    check_installed("stable_baselines3", extra="sb3")
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    with one_torch_thread():
        model = PPO(
            "MlpPolicy", make_vec_env(make, n_envs), n_steps=128, batch_size=128, n_epochs=10,
            device="cpu", policy_kwargs={"net_arch": [128, 128, 128]},
        )  # fmt: skip
        model.learn(128 * n_envs)
        began = time.perf_counter()
        model.learn(128 * n_envs * updates)
        return 128 * n_envs * updates / (time.perf_counter() - began)


def _maze_env() -> gym.Env[Any, Any]:
    return AdaptiveStack(FiniteTaskEnv(passive_tmaze(LENGTH)), 2, padding_type="empty")


def _masked_env() -> gym.Env[Any, Any]:
    _register()
    return AdaptiveStack(gym.make(MASKED), 2)


class _Positions(gym.ObservationWrapper[Any, Any, Any]):
    """CartPole without its velocities."""

    def __init__(self) -> None:
        super().__init__(gym.make("CartPole-v1"))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def observation(self, observation: Any) -> Any:
        return observation[[0, 2]]


def _register() -> None:
    if MASKED not in gym.registry:
        gym.register(MASKED, lambda **_: _Positions())
