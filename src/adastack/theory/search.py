"""Depth-first search over stack policies, one agent state's choice at a time.

Agent states are decided in the order in which they are first met, so that only those that the
policy meets need a choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from adastack.theory.belief import Beliefs
from adastack.theory.partial_policy import Choice, Partial


class End(Enum):
    """How a search ended."""

    FOUND = "a policy was found"
    EXHAUSTED = "every choice was tried"
    STOPPED = "the limit on effort was reached"


class Search:
    """Which choices to try, which to prune, and when to stop. Subclasses fill this in."""

    def __init__(self, partial: Partial) -> None:
        self.partial = partial
        self.tried = 0
        self.effort = 0
        """What the search has cost so far; by default the number of choices tried."""
        self.levels: list[tuple[int | None, Iterator[Choice]]] = []

    def options(self, agent: int) -> Iterable[Choice]:
        """The choices to try for an agent state, in this order."""
        raise NotImplementedError

    def accept_node(self, belief: int, agent: int) -> bool:
        """Whether a newly reached node can be part of a solution; a cheap test."""
        return True

    def accept(self) -> bool:
        """Whether the partial policy can be part of a solution."""
        return True

    def satisfied(self) -> bool:
        """Called on each complete policy: whether to stop with it."""
        raise NotImplementedError

    def run(self, max_effort: int) -> End:
        """Searches until satisfied, exhausted, or the effort reaches ``max_effort``."""
        down = all(self.accept_node(*node) for node in self.partial.nodes) and self.accept()
        if not down:
            return End.EXHAUSTED
        while True:
            if down:
                agent = self.partial.first_undecided()
                if agent is None and self.satisfied():
                    return End.FOUND
                choices = iter(self.options(agent)) if agent is not None else iter(())
                self.levels.append((agent, choices))
            agent, choices = self.levels[-1]
            choice = next(choices, None)
            if agent is None or choice is None:
                self.levels.pop()
                if not self.levels:
                    return End.EXHAUSTED
                self.partial.undo()
                down = False
                continue
            if self.effort >= max_effort:
                return End.STOPPED
            self.tried += 1
            self.effort += 1
            down = self.partial.assign(agent, choice, self.accept_node) and self.accept()
            if not down:
                self.partial.undo()


def different_actions(process: Beliefs) -> list[list[int]]:
    """For each observation, one action of each kind that differs in some state that shows it."""
    task, hidden = process.task, process.hidden
    successors = hidden.successors
    effects: list[dict[tuple[object, ...], int]] = [{} for _ in range(task.n_observations)]
    for seen in range(task.n_observations):
        states = [s for s in range(task.n_states) if task.observation[s] == seen]
        for action in range(task.n_actions):
            effect = tuple(
                (tuple(successors[action][s]), float(hidden.reward[s, action])) for s in states
            )
            effects[seen].setdefault(effect, action)
    return [list(kinds.values()) for kinds in effects]
