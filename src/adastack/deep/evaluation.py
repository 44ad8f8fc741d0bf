"""Playing a policy over stacks, and what its attempts come to."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from adastack.deep.agent import StackAgent
from adastack.deep.host import Worker
from adastack.deep.spaces import check_spaces
from adastack.deep.tables import ACTIVE_REGRET, MEMORY_REGRET, OVER, PASSIVE_REGRET, SUCCESS
from adastack.deep.update import Params
from adastack.tasks import resolve

MOST_STEPS = 20_000
"""Steps of each environment after which its attempt is judged by where it stands, unless the
environment says by ``attempt_limit`` that attempts take longer."""
EVALUATION = 2**31
"""Added to an evaluation's seed, so that no episode of the training comes again."""
BITS = (OVER, SUCCESS, MEMORY_REGRET, ACTIVE_REGRET, PASSIVE_REGRET)


def vector_env(name: str, n_envs: int) -> VectorEnv:
    """Environments side by side that begin a new episode in the step that ends the last.

    Args:
        name: A Gymnasium id, or a world as on the command line.
        n_envs: How many.
    """
    return resolve(name).vector_env(n_envs, AutoresetMode.SAME_STEP)


def evaluation_worker(agent: StackAgent, params: Params, name: str, episodes: int) -> Worker:
    """Someone who plays an agent's policy in environments of their own.

    Raises:
        ValueError: If the environments have other observations or actions.
    """
    env = vector_env(name, min(agent.settings.n_envs, episodes))
    ours = (agent.observation_space, agent.action_space)
    theirs = (env.single_observation_space, env.single_action_space)
    try:
        check_spaces(ours, theirs, name)
    except ValueError:
        env.close()
        raise
    worker = Worker(agent, env, seed=0)
    worker.use(params, None)
    return worker


def play(worker: Worker, episodes: int, greedy: bool, seed: int) -> dict[str, Any]:
    """Episodes of a policy, as many in each environment, and what they came to."""
    agent, n = worker.agent, worker.env.num_envs
    worker.restart(EVALUATION + seed)
    steps, returns, sums = 0, np.zeros(n), np.zeros(8)
    quota = np.full(n, -(-episodes // n))
    most = max(MOST_STEPS, int(quota[0]) * getattr(worker.env, "attempt_limit", 0))
    while quota.any() and steps < most:
        if steps % agent.settings.n_steps == 0:
            worker.buffer.begin()
        act = agent.greedy if greedy else partial(agent.act, seed=seed, step=steps)
        joined = np.asarray(act(worker.params, worker.buffer.current()))
        reward, _, _, flags, _ = worker.step(joined)
        live = quota > 0
        returns += reward
        bits = [live & ((flags & bit) > 0) for bit in BITS]
        sums[:5] += [bit.sum() for bit in bits]
        sums[5:] += reward[live].sum(), returns[bits[0]].sum(), live.sum()
        returns[bits[0]] = 0
        quota[bits[0]] -= 1
        steps += 1
    cut = quota > 0
    there = np.zeros(n, bool) if worker.there is None else worker.there
    sums[[0, 1, 6]] += cut.sum(), (cut & there).sum(), returns[cut].sum()
    return _summary(sums, known=worker.cues is not None, cut=int(cut.sum()))


def _summary(sums: np.ndarray, known: bool, cut: int) -> dict[str, Any]:
    """Means over attempts, and over steps for the reward rate and the memory regret."""
    attempts, count = max(float(sums[0]), 1.0), max(float(sums[7]), 1.0)
    return {
        "success": float(sums[1]) / attempts,
        "return": float(sums[6]) / attempts,
        "reward_rate": 1000 * float(sums[5]) / count,
        "memory_regret": float(sums[2]) / count if known else None,
        "active_regret": float(sums[3]) / attempts if known else None,
        "passive_regret": float(sums[4]) / attempts if known else None,
        "attempts": int(sums[0]),
        "cut": cut,
        "steps": int(sums[7]),
    }
