"""Evaluating a policy over stacks by playing it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from adastack.deep.agent import StackAgent
from adastack.deep.host import Worker
from adastack.deep.spaces import check_spaces
from adastack.deep.update import Params
from adastack.process.events import ATTEMPT, EVENTS, counts_of, regrets_of
from adastack.tasks.entry import Resolved
from adastack.tasks.environment import FiniteTaskVectorEnv
from adastack.tasks.failures import blamed
from adastack.tasks.finite import FiniteTask
from adastack.tasks.registry import TASKS

MOST_STEPS = 20_000
"""Steps of each environment after which its attempt is judged by where it stands, unless the
environment says by ``attempt_limit`` that attempts take longer."""
EVALUATION = 2**31
"""Added to an evaluation's seed, so that no episode of the training comes again."""


def vector_env(task: Resolved | FiniteTask, n_envs: int) -> VectorEnv:
    """Environments side by side that begin a new episode in the step that ends the last.

    Args:
        task: The task.
        n_envs: How many.
    """
    if isinstance(task, FiniteTask):
        return FiniteTaskVectorEnv(task, n_envs, AutoresetMode.SAME_STEP)
    # One of ours says itself what was expected, and so does what takes objects for environments.
    if task.name in TASKS or task.name.startswith("object:"):
        return task.vector_env(n_envs, AutoresetMode.SAME_STEP)
    with blamed(str(task), "making it"):
        return task.vector_env(n_envs, AutoresetMode.SAME_STEP)


def evaluation_worker(
    agent: StackAgent, params: Params, task: Resolved | FiniteTask, episodes: int
) -> Worker:
    """A worker that evaluates the agent in fresh environments.

    Raises:
        ValueError: If the environments have other observations or actions.
    """
    name = task.name if isinstance(task, FiniteTask) else str(task)
    env = vector_env(task, min(agent.settings.n_envs, episodes))
    ours = (agent.observation_space, agent.action_space)
    theirs = (env.single_observation_space, env.single_action_space)
    try:
        check_spaces(ours, theirs, name)
    except ValueError:
        env.close()
        raise
    worker = Worker(agent, env, 0, name)
    worker.use(params, None)
    return worker


def evaluate_seeds(
    agent: StackAgent, params: Mapping[int, Params], task: Resolved | FiniteTask, episodes: int,
    greedy: bool, seed: int, reports_success: bool = False,
) -> tuple[list[dict[str, Any]], int]:  # fmt: skip
    """Evaluates the parameters of every seed: a row for each, and how many steps that took.

    Args:
        agent: The agent.
        params: The parameters by seed.
        task: What is played.
        episodes: How many attempts.
        greedy: Take the likeliest actions, or draw them.
        seed: Where random numbers come from.
        reports_success: Whether success is known although an environment may not speak of it.

    Raises:
        ValueError: If the task has other observations or actions than the agent.
    """
    rows, walked = [], 0
    for number, mine in params.items():
        worker = evaluation_worker(agent, mine, task, episodes)
        worker.reports_success = reports_success
        row, steps = play(worker, episodes, greedy, seed)
        rows.append({"seed": number, **row})
        walked += steps
        worker.close()
    return rows, walked


def play(worker: Worker, episodes: int, greedy: bool, seed: int) -> tuple[dict[str, Any], int]:
    """Episodes of a policy, as many in each environment: what they came to, and their steps."""
    agent, n = worker.agent, worker.env.num_envs
    worker.restart(EVALUATION + seed)
    steps, walked, reward_sum = 0, 0, 0.0
    total, total_discounted, counts = 0.0, 0.0, np.zeros(len(EVENTS))
    # Of the attempts that go on.
    returns, discounted, discount = np.zeros(n), np.zeros(n), np.ones(n)
    quota = np.full(n, -(-episodes // n))
    most = max(MOST_STEPS, int(quota[0]) * getattr(worker.env, "attempt_limit", 0))
    while quota.any() and steps < most:
        if steps % agent.settings.n_steps == 0:
            worker.buffer.begin()
        act = agent.greedy if greedy else partial(agent.act, seed=seed, step=steps)
        stacks, filled = worker.buffer.current(), worker.buffer.filled()
        joined, worker.carry = act(worker.params, stacks, filled=filled, carry=worker.carry)
        reward, _, _, flags, _ = worker.step(np.asarray(joined))
        live = quota > 0
        over = live & ((flags & ATTEMPT) > 0)
        returns += reward
        discounted += discount * reward
        discount *= agent.settings.gamma
        counts += counts_of(flags[live])
        reward_sum += reward[live].sum()
        total += returns[over].sum()
        total_discounted += discounted[over].sum()
        returns[over], discounted[over], discount[over] = 0, 0, 1
        quota[over] -= 1
        walked += int(live.sum())
        steps += 1
    cut = quota > 0
    succeeded = np.zeros(n, bool) if worker.is_success is None else worker.is_success
    number = dict(zip(EVENTS, counts.tolist(), strict=True))
    number["attempts"] += int(cut.sum())
    number["successes"] += int((cut & succeeded).sum())
    returns_of = (total + returns[cut].sum(), total_discounted + discounted[cut].sum())
    row = _summary(number, returns_of, reward_sum, walked)
    row |= dict.fromkeys(worker.unknown)
    return {**row, "cut": int(cut.sum())}, walked


def _summary(
    number: dict[str, float], returns: tuple[float, float], reward: float, steps: int
) -> dict[str, Any]:
    """Means over attempts, and over steps for the reward rate and the memory regrets.

    ``returns``: the sums of the returns and of the discounted returns of all attempts.
    """
    attempts, steps = max(number["attempts"], 1.0), max(steps, 1)
    per_step, per_attempt = (
        {name: count / whole for name, count in number.items()} for whole in (steps, attempts)
    )
    return {
        "success": number["successes"] / attempts,
        "return": float(returns[0]) / attempts,
        "discounted_return": float(returns[1]) / attempts,
        "reward_rate": 1000 * float(reward) / steps,
        **regrets_of(per_step, per_attempt),
        "attempts": int(number["attempts"]),
        "attempt_steps": steps / attempts,
    }
