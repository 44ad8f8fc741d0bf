"""How fast the worlds are: MiniGrid-Memory, FetchReach and POPGym beside their packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AsyncVectorEnv
from jax import Array

from adastack.bench.figure import Figure, episodes, interleaved
from adastack.extras import require
from adastack.tasks.functional import FunctionalTask, Reset
from adastack.tasks.functional_vector import reset_all, reset_some, step_all
from adastack.tasks.worlds.fetch.vector import FetchReachVectorEnv
from adastack.tasks.worlds.minigrid.environment import MiniGridMemoryEnv
from adastack.tasks.worlds.minigrid.functional import MiniGridMemory
from adastack.tasks.worlds.popgym.levels import GAMES, package_name, popgym_task

GRID_STEPS = 300
COMPILED_ENVS, COMPILED_STEPS = 256, 400
ARMS, ARM_STEPS = 8, 25
GAME_ENVS, GAME_STEPS = 64, 400


def measure() -> list[Figure]:
    """The figures of the worlds."""
    return [_minigrid(), _fetch(), _popgym()]


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


def _popgym() -> Figure:
    """Random actions in POPGym's easy games: the package in a loop, and the ports."""
    package_envs = require("popgym.envs", extra="popgym")
    ratios = {}
    for game in GAMES:
        make = getattr(package_envs, package_name(game, "easy"), None)
        if make is None:  # Mazes need a package that POPGym does not ask for.
            continue
        env = make()
        env.action_space.seed(0)
        package = episodes(env, [env.action_space.sample() for _ in range(GAME_STEPS)])
        rollout = _rollout(popgym_task(game), GAME_ENVS, GAME_STEPS)
        times = interleaved({"package": package, "port": rollout}, 5)
        ratios[game] = GAME_ENVS * times["package"] / times["port"]
    slowest = min(ratios, key=ratios.__getitem__)
    name = f"POPGym's easy games: ports, {GAME_ENVS} agents / the package; least: {slowest}"
    return Figure(name, ratios[slowest], "x", 10)


def _rollout(task: FunctionalTask, n_envs: int, n_steps: int) -> Callable[[], object]:
    """Random actions, with a reset where an episode is over, as one program."""

    def step(carry: tuple[Any, ...], actions: Array) -> tuple[tuple[Any, ...], Array]:
        key, now, over = carry
        key, now = jax.lax.cond(
            over.any(), lambda: reset_some(task, key, over, now), lambda: (key, now)
        )
        key, after = step_all(task, key, now.state, actions)
        # What was seen is summed up, so that it has to be computed.
        seen = after.observation.sum(dtype=jnp.int32) + after.reward.sum()
        now = Reset(after.state, after.observation, after.extras)
        return (key, now, after.terminated | after.truncated), seen

    @jax.jit
    def rollout(actions: Array) -> Array:
        begin = (*reset_all(task, n_envs, jax.random.key(0)), jnp.zeros(n_envs, jnp.bool_))
        return jax.lax.scan(step, begin, actions)[1].sum()

    actions = _drawn(jax.random.key(1), task.action_space, (n_steps, n_envs))
    return lambda: rollout(actions).block_until_ready()


def _drawn(key: Array, space: Discrete | Box, shape: tuple[int, ...]) -> Array:
    """Random actions."""
    if isinstance(space, Box):
        return jax.random.uniform(key, (*shape, *space.shape), minval=space.low, maxval=space.high)
    return jax.random.randint(key, shape, 0, int(space.n))


def _push(envs: Any) -> Callable[[], None]:
    actions = np.random.default_rng(0).uniform(-1, 1, (ARM_STEPS, ARMS, 4)).astype(np.float32)

    def run() -> None:
        envs.reset(seed=0)
        for action in actions:
            envs.step(action)

    return run
