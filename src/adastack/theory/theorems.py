"""The paper's Theorem 2 as a check.

Theorem 2 says: if two stack policies are value-consistent and V_k of the first is nowhere above
V_k of the second, then no history is worth more under the first. That is true of histories that
leave both policies with the same stack, and so of all histories if both keep the same things. It is
not true in general: on ``branching_task`` (in `adastack.theory.theorem_tasks`) two
value-consistent policies keep different things, and the one with the larger V_k is worse on one
history.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adastack.process.induced import Induced
from adastack.theory.belief import Beliefs, beliefs
from adastack.theory.optimal import GAMMA, TOLERANCE
from adastack.theory.values import policy_matrix, stack_values

Node = tuple[int, int]
"""What a history leaves a policy with: a belief and an agent state."""


@dataclass(frozen=True)
class PartialOrder:
    """Theorem 2 for two policies."""

    premise: bool
    """V_k of the first is nowhere above V_k of the second, on stacks that both meet."""
    conclusion: bool
    """No history that both can meet is worth more under the first."""
    history: tuple[str, ...] | None = None
    """A history that is worth more under the first, if there is one."""
    values: tuple[float, float] | None = None
    """What it is worth under each."""


def partial_order(
    induced: Induced, first: NDArray[np.integer], second: NDArray[np.integer], gamma: float = GAMMA
) -> PartialOrder:
    """Compares two deterministic stack policies stack by stack, and history by history.

    Args:
        induced: The process M_k.
        first: A joint action for each agent state.
        second: Another.
        gamma: The discount.
    """
    process = beliefs(induced.task)
    one, two = _Side(induced, process, first, gamma), _Side(induced, process, second, gamma)
    met = ~np.isnan(one.agent) & ~np.isnan(two.agent)
    slack = TOLERANCE * max(1.0, float(np.abs(one.pair).max()), float(np.abs(two.pair).max()))
    premise = bool((one.agent[met] <= two.agent[met] + slack).all())
    begun = {seen: (belief, int(induced.first[seen])) for seen, belief, _ in process.first}
    nodes: dict[tuple[Node, Node], tuple[int, ...]] = {
        (node, node): (seen,) for seen, node in begun.items()
    }
    todo = list(nodes)
    for pair in todo:
        worth = one.worth(pair[0]), two.worth(pair[1])
        if worth[0] > worth[1] + slack:
            history = tuple(induced.task.observation_names[seen] for seen in nodes[pair])
            return PartialOrder(premise, False, history, worth)
        ahead = one.ahead(pair[0]), two.ahead(pair[1])
        for seen in sorted(ahead[0].keys() & ahead[1].keys()):
            after = ahead[0][seen], ahead[1][seen]
            if after not in nodes:
                nodes[after] = (*nodes[pair], seen)
                todo.append(after)
    return PartialOrder(premise, True)


class _Side:
    """One of the two policies."""

    def __init__(
        self, induced: Induced, process: Beliefs, policy: NDArray[np.integer], gamma: float
    ) -> None:
        policy_matrix(induced, policy)
        values = stack_values(induced, policy, gamma)
        self.agent, self.pair = values.agent, values.pair
        self.induced, self.process, self.policy = induced, process, policy

    def worth(self, node: Node) -> float:
        """The value of the histories that lead to a node."""
        belief, agent = node
        support, ids = self.process.supports[belief], self.induced.pair_ids
        return float(sum(chance * self.pair[ids[s, agent]] for s, chance in support))

    def ahead(self, node: Node) -> dict[int, Node]:
        """The nodes that follow, by the observation that leads there."""
        belief, agent = node
        memory_action, action = divmod(int(self.policy[agent]), self.induced.task.n_actions)
        steps = self.process.steps[belief][action]
        push = self.induced.push[agent, memory_action]
        return {seen: (after, int(push[seen])) for seen, after, _ in steps}
