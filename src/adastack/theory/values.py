"""Values of a stack policy: what it earns from each pair of M_k, and what an agent state is worth.

A pair is a hidden state together with a stack. The value of a pair is exact, by a sparse linear
solve. The value of an agent state, the paper's V_k(s), is the average over the pairs behind it,
weighted by how often the policy visits them in the long run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adastack.process.chain import (
    Matrix,
    conditional_frequencies,
    discounted_values,
    gain_and_bias,
)
from adastack.process.induced import Induced
from adastack.tasks.finite import Floats, Ints
from adastack.theory.dynamics import Dynamics, dynamics
from adastack.theory.optimal import GAMMA, Criterion, check_criterion
from adastack.theory.stacks import StackPolicy

Policy = NDArray[Any]
"""(agent states,): a joint action each; or (agent states, joint actions): their probabilities."""


@dataclass(frozen=True, eq=False)
class StackValues:
    """The values of one stack policy. Build it with `stack_values`."""

    pair: Floats
    """(pairs,): the value of each pair; under the average criterion the differential value."""
    gain: Floats
    """(pairs,): the average reward from each pair; zero under the discounted criterion."""
    share: Floats
    """(pairs,): how the visits to an agent state are shared among its pairs; NaN if never met."""
    agent: Floats
    """(agent states,): V_k, the value averaged over the pairs behind; NaN if never visited."""
    start: float
    """The value (the average reward, if that is the criterion) averaged over starts."""


def stack_values(
    induced: Induced, policy: Policy, gamma: float = GAMMA, criterion: Criterion = "discounted"
) -> StackValues:
    """Evaluates a stack policy exactly.

    Args:
        induced: The process M_k.
        policy: For each agent state a joint action, ``memory_action * n_actions + action``, or the
            probabilities of all of them.
        gamma: The discount; 1 for the total reward of an episodic task.
        criterion: ``"discounted"``, or ``"average"`` for the average reward of a continual task.

    Raises:
        ValueError: If the policy has the wrong shape, or the task has no such values.

    Example:
        >>> import numpy as np
        >>> from adastack.process import induce
        >>> from adastack.tasks import passive_tmaze
        >>> process = induce(passive_tmaze(length=5), "none", 1)
        >>> stack_values(process, np.zeros(process.n_agent_states, int)).start  # always up
        0.0
    """
    check_criterion(induced.task, gamma, criterion)
    chain, reward = pair_chain(induced, policy_matrix(induced, policy))
    begin = start_weights(induced)
    gain = np.zeros(len(reward))
    if criterion == "average":
        gain, value = gain_and_bias(chain, reward)
    else:
        value = discounted_values(chain, reward, gamma)
    share = conditional_frequencies(chain, begin, induced.pair_agent)
    agent = np.zeros(induced.n_agent_states)
    np.add.at(agent, induced.pair_agent, share * value)
    goal = gain if criterion == "average" else value
    return StackValues(value, gain, share, agent, float(begin @ goal))


def policy_table(induced: Induced, policy: StackPolicy) -> Ints:
    """A policy given by stacks as one joint action for each agent state; 0 where it has none."""
    table = np.zeros(induced.n_agent_states, np.int32)
    for stack, (action, memory_action) in policy.items():
        agent = induced.find(stack)
        if agent >= 0:
            table[agent] = memory_action * induced.task.n_actions + action
    return table


def uniform_policy(induced: Induced) -> Floats:
    """The stack policy that does anything with equal probability."""
    joint = induced.n_memory_actions * induced.task.n_actions
    return np.full((induced.n_agent_states, joint), 1 / joint)


def policy_matrix(induced: Induced, policy: Policy) -> Floats:
    """(agent states, joint actions): a policy as probabilities, checked.

    Raises:
        ValueError: If it is not a policy for this process.
    """
    agents, joint = induced.n_agent_states, induced.n_memory_actions * induced.task.n_actions
    policy = np.asarray(policy)
    if policy.shape == (agents,):
        if policy.min() < 0 or policy.max() >= joint:
            raise ValueError(f"joint actions must be in 0..{joint - 1}, actual: {policy.tolist()}")
        return np.eye(joint)[policy.astype(np.intp)]
    if policy.shape != (agents, joint):
        raise ValueError(
            f"a policy must have shape ({agents},) or ({agents}, {joint}), actual: {policy.shape}"
        )
    if policy.min() < 0 or np.abs(policy.sum(axis=1) - 1).max() > 1e-9:
        raise ValueError("a policy's rows must be probabilities that sum to 1")
    return policy.astype(float)


def pair_chain(induced: Induced, policy: Floats) -> tuple[Matrix, Floats]:
    """The chain of pairs under a policy, and the expected reward of each pair."""
    hidden = dynamics(induced.task)
    shape = (induced.n_pairs, induced.n_pairs)
    chain, reward = sparse.csr_array(shape), np.zeros(induced.n_pairs)
    for joint, (moves, pays) in enumerate(joint_moves(induced, hidden)):
        weight = policy[induced.pair_agent, joint]
        if weight.any():
            chain = chain + sparse.diags_array(weight) @ moves
            reward += weight * pays
    chain.eliminate_zeros()
    return chain.tocsr(), reward


def joint_moves(induced: Induced, hidden: Dynamics) -> Iterator[tuple[Matrix, Floats]]:
    """For each joint action: the chances of the next pair, and the expected reward."""
    states = induced.task.n_states
    keys = induced.pair_agent.astype(np.int64) * states + induced.pair_state
    order = np.argsort(keys)
    for memory_action in range(induced.n_memory_actions):
        for action in range(induced.task.n_actions):
            moves = hidden.transition[action][induced.pair_state]
            rows = np.repeat(np.arange(induced.n_pairs), np.diff(moves.indptr))
            seen = induced.task.observation[moves.indices]
            agents = induced.push[induced.pair_agent[rows], memory_action, seen].astype(np.int64)
            columns = order[np.searchsorted(keys, agents * states + moves.indices, sorter=order)]
            shape = (induced.n_pairs, induced.n_pairs)
            chances = sparse.csr_array((moves.data, (rows, columns)), shape=shape)
            yield chances, hidden.reward[induced.pair_state, action]


def start_weights(induced: Induced) -> Floats:
    """(pairs,): the chance that an attempt begins in each pair."""
    task = induced.task
    fresh = induced.pair_agent == induced.first[task.observation[induced.pair_state]]
    weights: Floats = np.where(fresh, task.start[induced.pair_state], 0.0)
    return weights
