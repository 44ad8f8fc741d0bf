"""Without discount a policy that draws its actions can be optimal where no other is.

Two hidden states look alike; in one of them the first action ends the episode with a reward, in
the other the second, and nothing else happens. One slot and a coin earn the reward in the end, and
at gamma = 1 the wait costs nothing; a policy that always does the same earns it half of the time.

What decides is which actions a policy draws from, its *support* at each stack: every action in it
must be optimal for every belief that is met with the stack, and from every pair that is met the
value must be collected in the end. Supports are searched exhaustively.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from adastack.theory.optimal import Optimal
from adastack.theory.search import different_actions
from adastack.theory.stacks import Stacks

Support = tuple[tuple[int, int], ...]
"""The actions and memory actions that a stack is answered with, drawn at random."""
RandomPolicy = dict[tuple[int, ...], Support]
"""stack -> what is drawn from, for the stacks that the policy meets."""
Node = tuple[int, int]
"""A belief and an agent state."""


class _Stopped(Exception):
    """The search has tried as many choices as it may."""


@dataclass(frozen=True)
class Drawn:
    """How a search for an optimal policy that draws ended."""

    policy: RandomPolicy | None
    """An optimal policy, if one was found."""
    complete: bool
    """Whether the answer is proved: a policy was found, or every choice was tried."""


def find_randomised(optimal: Optimal, stacks: Stacks, *, max_choices: int) -> Drawn:
    """Looks for a stack policy that draws its actions and is optimal from every start.

    Args:
        optimal: Optimal values of the task, of the total reward.
        stacks: The memory.
        max_choices: How many choices to try before giving up.
    """
    search = _Supports(optimal, stacks, max_choices)
    try:
        found = search.run({})
    except _Stopped:
        return Drawn(None, False)
    if found is None:
        return Drawn(None, True)
    return Drawn({stacks.contents[agent]: support for agent, support in found.items()}, True)


class _Supports:
    def __init__(self, optimal: Optimal, stacks: Stacks, max_choices: int) -> None:
        self.optimal, self.stacks, self.left = optimal, stacks, max_choices
        self.different = different_actions(optimal.beliefs)

    def run(self, chosen: dict[int, Support]) -> dict[int, Support] | None:
        """The choices with those that are missing, if that can be optimal; else None."""
        met = self._met(chosen)
        if met is None:
            return None
        undecided = next((agent for _, agent in met if agent not in chosen), None)
        if undecided is None:
            return chosen if self._collects(met, chosen) else None
        beliefs = [belief for belief, agent in met if agent == undecided]
        for support in self._supports(undecided, beliefs):
            self.left -= 1
            if self.left < 0:
                raise _Stopped
            found = self.run({**chosen, undecided: support})
            if found is not None:
                return found
        return None

    def _supports(self, agent: int, beliefs: list[int]) -> Iterator[Support]:
        """All supports of optimal actions, the largest first: they reach an end most easily."""
        best = self.optimal.best
        seen = self.stacks.contents[agent][-1]
        actions = [a for a in self.different[seen] if all(best[b, a] for b in beliefs)]
        every = [(a, m) for a in actions for m in self.stacks.memory_actions(agent)]
        for size in range(len(every), 0, -1):
            yield from combinations(every, size)

    def _met(self, chosen: dict[int, Support]) -> dict[Node, list[Node]] | None:
        """Every pair that is met, with those that follow; None if an action is not optimal there.

        Pairs whose stack has no choice yet are followed by none.
        """
        first = self.optimal.beliefs.first
        todo = [(belief, self.stacks.first(symbol)) for symbol, belief, _ in first]
        met: dict[Node, list[Node]] = {}
        for node in todo:
            if node in met:
                continue
            after = self._following(node, chosen.get(node[1], ()))
            if after is None:
                return None
            met[node] = after
            todo += after
        return met

    def _following(self, node: Node, support: Support) -> list[Node] | None:
        belief, agent = node
        if not all(self.optimal.best[belief, action] for action, _ in support):
            return None
        steps, push = self.optimal.beliefs.steps[belief], self.stacks.push
        return [
            (after, push(agent, memory_action, symbol))
            for action, memory_action in support
            for symbol, after, _ in steps[action]
        ]

    def _collects(self, met: dict[Node, list[Node]], chosen: dict[int, Support]) -> bool:
        """Whether from every pair nothing is left to gain in the end."""
        before: dict[Node, list[Node]] = {node: [] for node in met}
        for node, after in met.items():
            for each in after:
                before[each].append(node)
        todo = [node for node in met if self._may_end(node, chosen)]
        safe = set(todo)
        for node in todo:
            new = [each for each in before[node] if each not in safe]
            safe.update(new)
            todo += new
        return len(safe) == len(met)

    def _may_end(self, node: Node, chosen: dict[int, Support]) -> bool:
        belief, agent = node
        if abs(float(self.optimal.value[belief])) <= self.optimal.tolerance:
            return True
        steps = self.optimal.beliefs.steps[belief]
        return any(sum(p for *_, p in steps[a]) < 1 - 1e-9 for a, _ in chosen[agent])
