"""The best value of any stack policy of a given size, by branch and bound.

The class is the deterministic stationary stack policies: one action and one memory action for each
stack. Below kappa a stochastic stack policy may do better than all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from adastack.process.chain import discounted_values, gain_and_bias
from adastack.process.induced import TooLargeError
from adastack.theory.branch import least_loss
from adastack.theory.graph import graph
from adastack.theory.optimal import Optimal
from adastack.theory.partial_policy import Choice, Partial, follow
from adastack.theory.search import End, Search, different_actions
from adastack.theory.stacks import StackPolicy, Stacks, lifted

COMPILED, PLAIN = 200, 5
"""How many nodes the compiled search, and the other, may look at for each choice allowed."""


@dataclass(frozen=True)
class Best:
    """The best value of a stack size, as far as the search got."""

    value: float
    """The value of the best policy found, averaged over starts."""
    upper: float
    """No deterministic stack policy of this size has a larger value."""
    policy: StackPolicy
    """The best policy found."""
    tried: int
    """How many choices were tried."""

    @property
    def proved(self) -> bool:
        """Whether the best policy found is the best there is."""
        return self.upper <= self.value


def best_policy(
    optimal: Optimal, stacks: Stacks, *, max_choices: int, smaller: StackPolicy | None = None
) -> Best:
    """Looks for the deterministic stack policy of the largest start value.

    Args:
        optimal: Optimal values of the task.
        stacks: The memory.
        max_choices: How many choices to try before stopping with a bound; fewer where each takes
            long (average and total reward, very many stacks).
        smaller: A policy for one slot less, to begin with.
    """
    search = _Bound(optimal, stacks)
    if smaller:
        search.begin_with(smaller)
    if optimal.criterion == "discounted" and optimal.gamma < 1:
        try:
            return _compiled(optimal, stacks, max_choices, search)
        except TooLargeError:
            return search.best(optimal.start_value)
    end = search.run(PLAIN * max_choices)
    open_bounds = search.bounds[: len(search.levels)] if end is End.STOPPED else []
    return search.best(max(open_bounds, default=search.value))


def start_value(optimal: Optimal, partial: Partial) -> float:
    """The value of a policy, averaged over starts; a frontier counts as perfect memory from there.

    It is the average reward if that is what the optimum maximises.
    """
    beliefs = np.array([belief for belief, _ in partial.nodes])
    actions = np.array(partial.actions())
    frontier = actions < 0
    reward = np.where(frontier, optimal.goal[beliefs], optimal.beliefs.reward[beliefs, actions])
    if optimal.criterion == "average":
        staying = sparse.diags_array(frontier.astype(float))
        values, _ = gain_and_bias((partial.chain() + staying).tocsr(), reward)
    else:
        values = discounted_values(partial.chain(), reward, optimal.gamma)
    return float(partial.start_weights() @ values)


def _compiled(optimal: Optimal, stacks: Stacks, max_choices: int, known: _Bound) -> Best:
    reachable = graph(optimal, stacks)
    loss = optimal.value[:, None] - optimal.action_value
    outcome = least_loss(
        reachable,
        loss[reachable.beliefs],
        optimal.gamma,
        scale=max(1.0, float(np.abs(optimal.value).max())),
        enough=optimal.start_value - known.value,
        max_effort=COMPILED * max_choices,
    )
    policy = {
        stacks.contents[agent]: reachable.choices[agent][option]
        for agent, option in enumerate(outcome.chosen)
        if option >= 0
    }
    if policy:
        known.keep(policy, start_value(optimal, follow(optimal.beliefs, stacks, policy.get)))
    known.tried = outcome.tried
    return known.best(known.value if outcome.proved else optimal.start_value - outcome.least)


class _Bound(Search):
    """The same for any criterion: keeps the best policy and refuses what cannot beat it."""

    def __init__(self, optimal: Optimal, stacks: Stacks) -> None:
        super().__init__(Partial(optimal.beliefs, stacks))
        self.optimal = optimal
        self.different = different_actions(optimal.beliefs)
        self.value = -np.inf
        self.policy: StackPolicy = {}
        self.bounds: list[float] = []
        """The bound of the partial policy at each depth."""

    def keep(self, policy: StackPolicy, value: float) -> None:
        """Remembers a policy."""
        self.policy, self.value = policy, value

    def best(self, upper: float) -> Best:
        """The best policy so far, and no policy better than ``upper``."""
        return Best(self.value, max(upper, self.value), self.policy, self.tried)

    def begin_with(self, policy: StackPolicy) -> None:
        """Remembers what a policy of one slot less does, if the rule can do it here."""
        stacks, process = self.partial.stacks, self.optimal.beliefs
        less = Stacks(stacks.task, stacks.rule, stacks.stack_size - 1)
        try:
            partial = follow(process, stacks, lambda stack: lifted(stack, policy, less, stacks))
        except TooLargeError:
            return
        if partial.first_undecided() is None:
            self.keep(partial.policy(), start_value(self.optimal, partial))

    def accept(self) -> bool:
        del self.bounds[len(self.levels) :]
        self.bounds.append(start_value(self.optimal, self.partial))
        self.effort += len(self.partial.nodes)
        return self.bounds[-1] > self.value + self.optimal.tolerance

    def satisfied(self) -> bool:
        self.keep(self.partial.policy(), self.bounds[-1])
        return self.value >= self.bounds[0] - self.optimal.tolerance

    def options(self, agent: int) -> Iterable[Choice]:
        partial = self.partial
        met = [partial.nodes[node][0] for node in partial.behind[agent]]
        promise = self.optimal.action_value[met].sum(axis=0)
        actions = self.different[partial.stacks.contents[agent][-1]]
        actions = sorted(actions, key=lambda action: -float(promise[action]))
        return [(a, m) for a in actions for m in partial.stacks.memory_actions(agent)]
