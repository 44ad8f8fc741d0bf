"""Value-consistency: do all histories behind a stack have the same value?

A history is the sequence of observations (and of the agent's own actions) since the start. Its
value under a policy is the expected value of the pair of hidden state and stack, over the belief
that the history implies. Histories with the same belief and the same stack have the same value, so
it is enough to compare the beliefs that a policy meets with each stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from adastack.process.chain import LEAK
from adastack.process.induced import Induced, TooLargeError
from adastack.tasks.finite import Floats
from adastack.theory.belief import Beliefs, beliefs
from adastack.theory.feasible import find_optimal, optimal_policy
from adastack.theory.optimal import TOLERANCE, Criterion, default_gamma
from adastack.theory.partial_policy import Choice
from adastack.theory.question import Question
from adastack.theory.stacks import StackPolicy
from adastack.theory.values import Policy, policy_matrix, stack_values

MAX_HISTORIES = 200_000


@dataclass(frozen=True)
class Witness:
    """Two histories with the same stack and different values."""

    stack: tuple[str, ...]
    """The stack, oldest first; ``-`` is empty."""
    histories: tuple[tuple[str, ...], tuple[str, ...]]
    """What was observed, first observation first."""
    values: tuple[float, float]
    """The value of each history."""


@dataclass(frozen=True)
class Consistency:
    """Whether a policy's memory is value-consistent."""

    task: str
    rule: str
    stack_size: int
    gamma: float
    criterion: Criterion
    consistent: bool
    spread: float
    """The largest difference between the values of two histories behind one stack."""
    witness: Witness | None
    """Where that difference is, if there is one."""
    policy: StackPolicy | None
    """The policy, if it was searched for."""
    proved: bool | None = None
    """If the policy was searched for: whether the answer holds for all optimal policies (if it is
    no) or is known at all (if the search for a consistent one stopped early)."""


@dataclass(frozen=True)
class _Met:
    """The nodes (belief, agent state) that a policy meets and how each was first reached."""

    nodes: list[tuple[int, int]]
    parents: list[int]


def policy_consistency(
    induced: Induced,
    policy: Policy,
    gamma: float | None = None,
    criterion: Criterion = "discounted",
) -> Consistency:
    """Whether all histories behind each stack have the same value under a given policy.

    Args:
        induced: The process M_k.
        policy: A joint action for each agent state, or the probabilities of all of them.
        gamma: The discount; by default the task's own, or 0.99.
        criterion: ``"discounted"``, or ``"average"`` to compare differential values.

    Example:
        >>> import numpy as np
        >>> from adastack.process import induce
        >>> from adastack.tasks import passive_tmaze
        >>> process = induce(passive_tmaze(length=5), "none", 1)
        >>> policy_consistency(process, np.zeros(process.n_agent_states, int)).witness.histories[0]
        ('green', 'grey', 'grey', 'grey', 'blue')
    """
    task = induced.task
    gamma = default_gamma(task) if gamma is None else gamma
    process = beliefs(task)
    matrix = policy_matrix(induced, policy)
    options = [
        [(int(j % task.n_actions), int(j // task.n_actions)) for j in np.flatnonzero(row)]
        for row in matrix
    ]
    met = _meet(
        process,
        lambda symbol: int(induced.first[symbol]),
        lambda agent, memory_action, symbol: int(induced.push[agent, memory_action, symbol]),
        options.__getitem__,
    )
    values = stack_values(induced, policy, gamma, criterion).pair
    history_values = np.array(
        [
            sum(p * values[induced.pair_ids[s, agent]] for s, p in process.supports[belief])
            for belief, agent in met.nodes
        ]
    )
    stacks = [tuple(stack) for stack in induced.stacks.tolist()]
    spread, witness = _compare(process, met, history_values, stacks)
    return Consistency(
        task.name,
        induced.rule.name,
        induced.stack_size,
        gamma,
        criterion,
        witness is None,
        spread,
        witness,
        None,
    )


def optimal_consistency(question: Question) -> Consistency:
    """Whether some optimal stack policy is value-consistent; if not, why one of them is not.

    Under an optimal policy the value of a history is V*, so no policy has to be evaluated.

    Raises:
        ValueError: If no stack policy of this size is optimal.
    """
    optimal, stacks = question.optimal(), question.stacks()
    found = find_optimal(optimal, stacks, max_choices=question.max_choices, consistent=True)
    policy = found.policy or optimal_policy(optimal, stacks, max_choices=question.max_choices)

    def options(agent: int) -> list[Choice]:
        return [policy[stacks.contents[agent]]]

    met = _meet(optimal.beliefs, stacks.first, stacks.push, options)
    values = optimal.value[[belief for belief, _ in met.nodes]]
    spread, witness = _compare(optimal.beliefs, met, values, stacks.contents)
    return Consistency(
        question.task.name,
        stacks.rule.name,
        stacks.stack_size,
        question.discount,
        question.criterion,
        witness is None,
        spread,
        witness,
        policy,
        found.complete,
    )


def _meet(
    process: Beliefs,
    first: Callable[[int], int],
    push: Callable[[int, int, int], int],
    options: Callable[[int], Iterable[Choice]],
) -> _Met:
    """Breadth first over what a policy can meet, so that histories are as short as they can be."""
    nodes = [(belief, first(symbol)) for symbol, belief, _ in process.first]
    parents = [-1] * len(nodes)
    known = set(nodes)
    for number, (belief, agent) in enumerate(nodes):
        for action, memory_action in options(agent):
            for symbol, after, chance in process.steps[belief][action]:
                node = (after, push(agent, memory_action, symbol))
                if chance > LEAK and node not in known:
                    known.add(node)
                    nodes.append(node)
                    parents.append(number)
        if len(nodes) > MAX_HISTORIES:
            raise TooLargeError(
                f"{process.task.name}: the policy meets more than {MAX_HISTORIES:,} pairs of "
                "belief and stack: use a smaller stack_size or a shorter task"
            )
    return _Met(nodes, parents)


def _compare(
    process: Beliefs, met: _Met, values: Floats, stacks: list[tuple[int, ...]]
) -> tuple[float, Witness | None]:
    """The largest difference of values behind one stack, and where it is."""
    lowest: dict[int, int] = {}
    highest: dict[int, int] = {}
    for node, (_, agent) in enumerate(met.nodes):
        if values[node] < values[lowest.setdefault(agent, node)]:
            lowest[agent] = node
        if values[node] > values[highest.setdefault(agent, node)]:
            highest[agent] = node
    agent = max(lowest, key=lambda a: float(values[highest[a]] - values[lowest[a]]))
    pair = lowest[agent], highest[agent]
    spread = float(values[pair[1]] - values[pair[0]])
    if spread <= TOLERANCE * max(1.0, float(np.abs(values).max())):
        return spread, None
    names = (*process.task.observation_names, "-")
    low, high = (_history(process, met, node) for node in pair)
    stack = tuple(names[symbol] for symbol in stacks[agent])
    return spread, Witness(stack, (low, high), (float(values[pair[0]]), float(values[pair[1]])))


def _history(process: Beliefs, met: _Met, node: int) -> tuple[str, ...]:
    seen = []
    while node >= 0:
        belief, _ = met.nodes[node]
        seen.append(process.task.observation_names[process.observation[belief]])
        node = met.parents[node]
    return tuple(reversed(seen))
