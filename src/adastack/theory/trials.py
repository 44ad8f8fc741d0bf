"""The theorems on random tasks that fulfil their premise, and on one made to refute one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.induced import Induced, induce
from adastack.theory.consistency import policy_consistency
from adastack.theory.td import td_values
from adastack.theory.theorem_tasks import blind_task, branching_task, reactive_task
from adastack.theory.theorems import PartialOrder, partial_order
from adastack.theory.values import stack_values, uniform_policy

VARIANTS = 20
"""Policies that are compared with the first one of each task."""
CHANGED = 0.2
"""The share of stacks at which they act differently."""
EQUAL = 1e-9


class Tried(NamedTuple):
    """How often a theorem's premise was met, and how often its conclusion was true then."""

    premises: int
    conclusions: int


def branching_policies() -> tuple[Induced, NDArray[np.int64], NDArray[np.int64]]:
    """Two value-consistent policies with two slots: one keeps everything, one the current only."""
    task = branching_task()
    induced = induce(task, "adaptive", 2)
    keeps, forgets = np.zeros((2, induced.n_agent_states), np.int64)
    # Joint action 2 evicts the current observation; joint action 1 answers "one".
    for seen in range(task.n_observations - 1):
        forgets[induced.find((task.empty, seen))] = task.n_actions
    forgets[induced.find((task.empty, task.n_observations - 1))] = 1
    return induced, keeps, forgets


def branching_example(gamma: float) -> tuple[PartialOrder, bool]:
    """Theorem 2 on two policies that keep different things; whether both are value-consistent."""
    induced, keeps, forgets = branching_policies()
    consistent = all(policy_consistency(induced, p, gamma).consistent for p in (keeps, forgets))
    return partial_order(induced, keeps, forgets, gamma), consistent


def same_memory_trials(tasks: int, gamma: float) -> Tried:
    """Theorem 2 on pairs of policies that keep the same things, on value-consistent tasks."""
    found = [_same_memory(seed, gamma) for seed in range(tasks)]
    return Tried(sum(each.premises for each in found), sum(each.conclusions for each in found))


def _same_memory(seed: int, gamma: float) -> Tried:
    induced = induce(blind_task(seed), "adaptive", 2)
    rng = np.random.default_rng(seed)
    agents, actions = induced.n_agent_states, induced.task.n_actions
    keeps = rng.integers(induced.n_memory_actions, size=agents) * actions
    first = keeps + rng.integers(actions, size=agents)
    premises = conclusions = 0
    for _ in range(VARIANTS):
        other = keeps + rng.integers(actions, size=agents)
        second = np.where(rng.random(agents) < CHANGED, other, first)
        for one, two in ((first, second), (second, first)):
            found = partial_order(induced, one, two, gamma)
            premises += found.premise
            conclusions += found.premise and found.conclusion
    return Tried(premises, conclusions)


class Sides(NamedTuple):
    """Stacks at which the fixed point of TD(0) differs from the true value."""

    lower: int
    higher: int


def td_sides(tasks: int, gamma: float) -> Sides:
    """On which side of V_k the fixed point of TD(0) lies, on random tasks without a memory."""
    lower = higher = 0
    for seed in range(tasks):
        induced = induce(reactive_task(seed, gamma), "none", 1)
        policy = uniform_policy(induced)
        off = td_values(induced, policy, gamma) - stack_values(induced, policy, gamma).agent
        lower += int((off < -EQUAL).sum())
        higher += int((off > EQUAL).sum())
    return Sides(lower, higher)
