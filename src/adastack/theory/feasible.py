"""Is there an optimal stack policy? An exhaustive search with a policy or a refusal as proof.

A stack policy is optimal from every start exactly if, at each pair of belief and stack that it can
reach, it takes an action that is optimal for the belief. So the question is a puzzle: give each
stack that is met one action and one memory action such that no stack is ever met with a belief for
which its action is not optimal. With a discount randomising does not help: every action in the
support of an optimal stochastic policy is optimal wherever it is taken, so each of them could be
taken alone. Without, one taken alone may put the goal off for ever: see
`adastack.theory.randomised`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from adastack.process.chain import recurrent_classes
from adastack.theory.optimal import Optimal
from adastack.theory.partial_policy import Choice, Partial
from adastack.theory.search import End, Search, different_actions
from adastack.theory.stacks import StackPolicy, Stacks


@dataclass(frozen=True)
class Found:
    """How a search for an optimal policy ended."""

    policy: StackPolicy | None
    """An optimal policy, if one was found."""
    complete: bool
    """Whether the answer is proved: a policy was found, or every choice was tried."""
    tried: int
    """How many choices were tried."""


Allow = Callable[[tuple[int, ...], int, int], bool]
"""Whether a stack may be answered with an action and a memory action."""


def find_optimal(
    optimal: Optimal,
    stacks: Stacks,
    *,
    max_choices: int,
    consistent: bool = False,
    allow: Allow | None = None,
) -> Found:
    """Looks for a stack policy that is optimal from every start.

    Under the average criterion the policy is asked to be optimal in transient states, too.

    Args:
        optimal: Optimal values of the task.
        stacks: The memory.
        max_choices: How many choices to try before giving up.
        consistent: Ask also that all histories behind a stack have the same value.
        allow: Ask also that every choice is allowed.
    """
    search = _Puzzle(optimal, stacks, consistent, allow)
    end = search.run(max_choices)
    policy = search.partial.policy() if end is End.FOUND else None
    return Found(policy, end is not End.STOPPED, search.tried)


def optimal_policy(optimal: Optimal, stacks: Stacks, *, max_choices: int) -> StackPolicy:
    """A stack policy that is optimal from every start.

    Raises:
        ValueError: If none was found.
    """
    policy = find_optimal(optimal, stacks, max_choices=max_choices).policy
    if policy is None:
        raise ValueError(
            f"expected a stack size with an optimal {stacks.rule.name} policy on "
            f"{stacks.task.name}, actual: {stacks.stack_size}"
        )
    return policy


class _Puzzle(Search):
    """Refuses every node at which the choice made is not optimal, or none could be."""

    def __init__(
        self, optimal: Optimal, stacks: Stacks, consistent: bool, allow: Allow | None
    ) -> None:
        super().__init__(Partial(optimal.beliefs, stacks))
        self.optimal = optimal
        self.different = different_actions(optimal.beliefs)
        self.best = optimal.best.tolist()
        self.value = optimal.value.tolist()
        self.consistent = consistent
        self.allow = allow or (lambda stack, action, memory_action: True)

    def options(self, agent: int) -> Iterator[Choice]:
        memory = sorted(self.partial.stacks.memory_actions(agent), key=partial(self._lost, agent))
        stack = self.partial.stacks.contents[agent]
        return ((a, m) for a in self._common(agent) for m in memory if self.allow(stack, a, m))

    def accept_node(self, belief: int, agent: int) -> bool:
        if self.consistent:
            earliest = self.partial.nodes[self.partial.behind[agent][0]][0]
            if abs(self.value[belief] - self.value[earliest]) > self.optimal.tolerance:
                return False
        choice = self.partial.choice.get(agent)
        if choice is not None:
            return bool(self.best[belief][choice[0]])
        return bool(self._common(agent))

    def accept(self) -> bool:
        """Without discount, optimal actions could still put the goal off for ever."""
        if self.optimal.gamma < 1 or self.optimal.criterion == "average":
            return True
        return not any(
            abs(self.value[self.partial.nodes[node][0]]) > self.optimal.tolerance
            for members in recurrent_classes(self.partial.chain())
            for node in members
        )

    def satisfied(self) -> bool:
        return True

    def _lost(self, agent: int, memory_action: int) -> int:
        """How many of the current cues are evicted: the policy that keeps them is preferred.

        Without this, one cue is as well remembered by the absence of the other.
        """
        stack = self.partial.stacks.contents[agent]
        kept = self.partial.stacks.kept(stack, memory_action)
        first = self.partial.nodes[self.partial.behind[agent][0]][0]
        state, _ = self.optimal.beliefs.supports[first][0]
        cues = set(self.optimal.beliefs.task.cue[state].tolist())
        return sum(stack.count(cue) - kept.count(cue) for cue in cues)

    def _common(self, agent: int) -> list[int]:
        """The actions that are optimal for every belief met with this agent state so far."""
        nodes = self.partial.nodes
        met = [nodes[node][0] for node in self.partial.behind[agent]]
        seen = self.partial.stacks.contents[agent][-1]
        return [a for a in self.different[seen] if all(self.best[b][a] for b in met)]
