"""Where temporal-difference learning ends up when stacks stand in for states.

TD(0) and Q-learning on stacks treat every pair behind a stack alike, weighted by how often the
behaviour visits it. In the limit of small steps they find the exact solution of that averaged
process (Singh, Jaakkola and Jordan 1994), which is computed here directly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adastack.process.chain import Matrix, conditional_frequencies, discounted_values
from adastack.process.induced import Induced
from adastack.tasks.finite import Bools, Floats
from adastack.theory.dynamics import dynamics
from adastack.theory.feasible import find_optimal
from adastack.theory.kappa import MAX_CHOICES
from adastack.theory.optimal import GAMMA, TOLERANCE, optimal_values
from adastack.theory.stacks import Stacks
from adastack.theory.values import (
    Policy,
    joint_moves,
    pair_chain,
    policy_matrix,
    stack_values,
    start_weights,
    uniform_policy,
)


@dataclass(frozen=True, eq=False)
class Averaged:
    """The process on agent states that a learner sees on average under a behaviour."""

    met: Bools
    """(agent states,): whether the behaviour ever visits it."""
    transition: list[Matrix]
    """For each joint action, (agent states, agent states)."""
    reward: Floats
    """(agent states, joint actions)."""


def averaged(induced: Induced, behaviour: Policy) -> Averaged:
    """Averages M_k over the pairs behind each stack, as a behaviour visits them."""
    chain, _ = pair_chain(induced, policy_matrix(induced, behaviour))
    share = conditional_frequencies(chain, start_weights(induced), induced.pair_agent)
    met = np.ones(induced.n_agent_states, np.bool_)
    met[induced.pair_agent[np.isnan(share)]] = False
    share = np.nan_to_num(share)
    pairs = np.arange(induced.n_pairs)
    shape = (induced.n_agent_states, induced.n_pairs)
    gather = sparse.csr_array((share, (induced.pair_agent, pairs)), shape=shape)
    member = sparse.csr_array((np.ones(len(pairs)), (pairs, induced.pair_agent)), shape=shape[::-1])
    moves = list(joint_moves(induced, dynamics(induced.task)))
    reward = np.stack([gather @ pays for _, pays in moves], axis=1)
    return Averaged(met, [(gather @ move @ member).tocsr() for move, _ in moves], reward)


def td_values(induced: Induced, policy: Policy, gamma: float = GAMMA) -> Floats:
    """(agent states,): the fixed point of TD(0) under a policy; NaN where it is never updated."""
    process = averaged(induced, policy)
    weight = policy_matrix(induced, policy)
    chain = sparse.csr_array((induced.n_agent_states,) * 2)
    for joint, move in enumerate(process.transition):
        chain = chain + sparse.diags_array(weight[:, joint]) @ move
    values = discounted_values(chain.tocsr(), (weight * process.reward).sum(axis=1), gamma)
    return np.where(process.met, values, np.nan)


def q_fixed_point(
    induced: Induced, behaviour: Policy | None = None, gamma: float = GAMMA
) -> Floats:
    """(agent states, joint actions): where Q-learning converges under a fixed behaviour.

    Args:
        induced: The process M_k.
        behaviour: The policy that explores; by default uniformly random.
        gamma: The discount, less than one.

    Returns:
        The fixed point; NaN where the behaviour never goes.
    """
    process = averaged(induced, uniform_policy(induced) if behaviour is None else behaviour)
    everyone = np.arange(induced.n_agent_states)
    greedy: NDArray[np.intp] = np.zeros(induced.n_agent_states, np.intp)
    while True:
        stacked = sparse.vstack(process.transition).tocsr()
        chain = stacked[greedy * induced.n_agent_states + everyone]
        values = discounted_values(chain, process.reward[everyone, greedy], gamma)
        ahead = np.stack([move @ values for move in process.transition], axis=1)
        table: Floats = process.reward + gamma * ahead
        slack = TOLERANCE * 1e-2 * max(1.0, float(np.abs(values).max()))
        better = table.max(axis=1) > table[everyone, greedy] + slack
        if not better.any():
            return np.where(process.met[:, None], table, np.nan)
        greedy = np.where(better, table.argmax(axis=1), greedy)


@dataclass(frozen=True)
class TdOutcome:
    """What acting greedily on the fixed point of Q-learning is worth."""

    value: float
    """Its true value, averaged over starts; of equally good actions the first is taken."""
    optimum: float
    """The value of perfect memory."""
    optimal: bool
    """Whether some way to break ties is optimal from every start."""


def td_outcome(
    induced: Induced, gamma: float = GAMMA, behaviour: Policy | None = None
) -> TdOutcome:
    """Whether Q-learning on stacks, with a fixed behaviour, ends with an optimal policy.

    Args:
        induced: The process M_k.
        gamma: The discount, less than one.
        behaviour: The policy that explores; by default uniformly random.

    Example:
        >>> from adastack.process import induce
        >>> from adastack.tasks import passive_tmaze, xormaze
        >>> td_outcome(induce(passive_tmaze(length=5), "adaptive", 2)).optimal
        True
        >>> td_outcome(induce(xormaze(), "adaptive", 3)).optimal
        False
    """
    table = np.nan_to_num(q_fixed_point(induced, behaviour, gamma), nan=-np.inf)
    top = table.max(axis=1, keepdims=True)
    greedy = table >= top - TOLERANCE * max(1.0, float(np.abs(top[np.isfinite(top)]).max()))
    value = stack_values(induced, np.argmax(greedy, axis=1), gamma).start
    best = optimal_values(induced.task, gamma)

    def allow(stack: tuple[int, ...], action: int, memory_action: int) -> bool:
        joint = memory_action * induced.task.n_actions + action
        return bool(greedy[induced.find(stack), joint])

    stacks = Stacks(induced.task, induced.rule, induced.stack_size)
    found = find_optimal(best, stacks, max_choices=MAX_CHOICES, allow=allow)
    return TdOutcome(value, best.start_value, found.policy is not None)
