"""Slow, obvious versions of what the theory computes: dictionaries, rollouts and enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np

from adastack.memory import ReferenceStack
from adastack.tasks import FiniteTask


def random_task(seed, states=5, observations=2, actions=2):
    """A deterministic episodic task with several starts and some endings that pay."""
    rng = np.random.default_rng(seed)
    shape = (states, actions, 1)
    start = np.zeros(states)
    start[: min(3, states)] = 1 / min(3, states)
    ends = rng.random(shape) < 0.3
    return FiniteTask(
        name=f"random:{seed}",
        observation=np.concatenate(
            [np.arange(observations), rng.integers(observations, size=states - observations)]
        ),
        next_state=rng.integers(states, size=shape),
        probability=np.ones(shape),
        reward=np.where(ends, rng.choice([-1.0, 0.5, 1.0], size=shape), 0.0),
        ends=ends,
        start=start,
        observation_names=tuple(f"x{i}" for i in range(observations)),
        action_names=tuple(f"a{i}" for i in range(actions)),
    )


def stack_of(memory):
    """The contents of a reference stack."""
    return tuple(memory.slots)


def outcomes(task, state, action):
    """(chance, reward, next state or None) of an action; a continual end leads to a start."""
    for o in range(task.n_outcomes):
        p = float(task.probability[state, action, o])
        if p == 0:
            continue
        r = float(task.reward[state, action, o])
        if not task.ends[state, action, o]:
            yield p, r, int(task.next_state[state, action, o])
        elif not task.continual:
            yield p, r, None
        else:
            for s in range(task.n_states):
                if task.start[s] > 0:
                    yield p * float(task.start[s]), r, s


def push(task, rule, stack, memory_action, seen):
    """The stack after a push, by the reference."""
    memory = ReferenceStack(rule, len(stack), padding=task.empty)
    memory.slots = list(stack)
    memory.births = [None if symbol == task.empty else 0 for symbol in stack]
    memory.push(memory_action, seen)
    return stack_of(memory)


def rollout_value(task, rule, k, policy, state, gamma, horizon):
    """The discounted return of a stack policy in a deterministic task, step by step."""
    assert task.n_outcomes == 1
    assert not task.continual
    stack = (task.empty,) * (k - 1) + (int(task.observation[state]),)
    total, weight = 0.0, 1.0
    for _ in range(horizon):
        action, memory_action = policy[stack]
        ((_, reward, after),) = outcomes(task, state, action)
        total += weight * reward
        weight *= gamma
        if after is None:
            break
        stack = push(task, rule, stack, memory_action, int(task.observation[after]))
        state = after
    return total


def reachable_stacks(task, rule, k):
    """Every stack that some behaviour can produce, with its hidden states."""
    memory_actions = ReferenceStack(rule, k).rule.actions(k)
    empty = (task.empty,) * (k - 1)
    todo = [(int(s), (*empty, int(task.observation[s]))) for s in np.flatnonzero(task.start)]
    known = set(todo)
    for state, stack in todo:
        for action, memory_action in product(range(task.n_actions), range(memory_actions)):
            for _, _, after in outcomes(task, state, action):
                if after is None:
                    continue
                pair = (after, push(task, rule, stack, memory_action, int(task.observation[after])))
                if pair not in known:
                    known.add(pair)
                    todo.append(pair)
    return known


def pair_values(task, rule, policy, pairs, gamma):
    """Value of every pair under a policy {stack: [(chance, action, memory action)]}, densely."""
    order = sorted(pairs)
    number = {pair: i for i, pair in enumerate(order)}
    chain, reward = np.zeros((len(order), len(order))), np.zeros(len(order))
    for (state, stack), i in number.items():
        for weight, action, memory_action in policy[stack]:
            for p, r, after in outcomes(task, state, action):
                reward[i] += weight * p * r
                if after is not None:
                    next_stack = push(
                        task, rule, stack, memory_action, int(task.observation[after])
                    )
                    chain[i, number[after, next_stack]] += weight * p
    values = np.linalg.solve(np.eye(len(order)) - gamma * chain, reward)
    return order, chain, values


def tree_value(task, gamma, horizon):
    """The best value of any agent with perfect memory over a horizon, by search over histories."""

    def best(belief, left):
        if left == 0 or not belief:
            return 0.0
        values = []
        for action in range(task.n_actions):
            gained, mass = 0.0, {}
            for state, weight in belief.items():
                for p, r, after in outcomes(task, state, action):
                    gained += weight * p * r
                    if after is not None:
                        part = mass.setdefault(int(task.observation[after]), {})
                        part[after] = part.get(after, 0.0) + weight * p
            values.append(gained + gamma * sum(best(part, left - 1) for part in mass.values()))
        return max(values)

    parts = {}
    for state in np.flatnonzero(task.start):
        part = parts.setdefault(int(task.observation[state]), {})
        part[int(state)] = float(task.start[state])
    return sum(best(part, horizon) for part in parts.values())
