"""How fast the worlds are: MiniGrid-Memory and FetchReach beside their packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AsyncVectorEnv
from jax import Array

from adastack.bench.figure import Figure, episodes, interleaved
from adastack.tasks.functional import FunctionalTask
from adastack.tasks.worlds.fetch.vector import FetchReachVectorEnv
from adastack.tasks.worlds.minigrid.environment import MiniGridMemoryEnv
from adastack.tasks.worlds.minigrid.functional import MiniGridMemory

GRID_STEPS = 300
COMPILED_ENVS, COMPILED_STEPS = 256, 400
ARMS, ARM_STEPS = 8, 25


def measure() -> list[Figure]:
    """The figures of the worlds."""
    return [_minigrid(), _fetch()]


def _minigrid() -> Figure:
    """Random actions in the S13 world: the package, and the functional task in one program."""
    rollout = _rollout(MiniGridMemory(13), COMPILED_ENVS, COMPILED_STEPS)
    actions = np.random.default_rng(0).integers(0, 7, GRID_STEPS).tolist()
    package = episodes(MiniGridMemoryEnv(13), actions)
    times = interleaved({"package": package, "functional": rollout}, 7)
    per_step = times["package"] / GRID_STEPS
    functional = times["functional"] / (COMPILED_ENVS * COMPILED_STEPS)
    name = f"MiniGrid-Memory S13: functional task, {COMPILED_ENVS} agents / the package"
    return Figure(name, per_step / functional, "x", 50)


def _fetch() -> Figure:
    """The same actions by our vector environment and by the package's in processes of its own."""
    make = partial(gym.make, "gymnasium_robotics:FetchReachDense-v4", max_episode_steps=10**9)
    theirs = AsyncVectorEnv([make] * ARMS, context="spawn")
    ours = FetchReachVectorEnv(ARMS)
    times = interleaved({"theirs": _push(theirs), "ours": _push(ours)}, 7)
    theirs.close()
    ours.close()
    name = f"FetchReach, {ARMS} arms on all cores / AsyncVectorEnv over the package"
    return Figure(name, times["theirs"] / times["ours"], "x", 2)


def _rollout(task: FunctionalTask, n_envs: int, n_steps: int) -> Callable[[], object]:
    """Random actions, with a reset where an episode is over, as one program."""

    def step(carry: tuple[Any, Array], key: Array) -> tuple[tuple[Any, Array], Array]:
        state, over = carry
        for_reset, for_action = jax.random.split(key)
        actions = jax.random.randint(for_action, (n_envs,), 0, int(task.action_space.n))
        fresh, _ = jax.vmap(task.reset)(jax.random.split(for_reset, n_envs))
        state = jax.tree.map(partial(jnp.where, over), fresh, state)
        after = jax.vmap(task.step, in_axes=(None, 0, 0))(key, state, actions)
        # What was seen is summed up, so that it has to be computed.
        seen = after.observation.sum(dtype=jnp.int32) + after.reward.sum()
        return (after.state, after.terminated | after.truncated), seen

    @jax.jit
    def rollout(key: Array) -> Array:
        state, _ = jax.vmap(task.reset)(jax.random.split(key, n_envs))
        begin = (state, jnp.zeros(n_envs, jnp.bool_))
        return jax.lax.scan(step, begin, jax.random.split(key, n_steps))[1].sum()

    return lambda: rollout(jax.random.key(0)).block_until_ready()


def _push(envs: Any) -> Callable[[], None]:
    actions = np.random.default_rng(0).uniform(-1, 1, (ARM_STEPS, ARMS, 4)).astype(np.float32)

    def run() -> None:
        envs.reset(seed=0)
        for action in actions:
            envs.step(action)

    return run
