"""What an agent with perfect memory knows: the beliefs that histories lead to.

A history is the sequence of observations and of the agent's own actions; rewards are not observed.
All that matters about a history is the distribution over hidden states that it implies, its
*belief*. `beliefs` enumerates the beliefs that some behaviour can reach from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from adastack.process.chain import Matrix
from adastack.process.induced import TooLargeError
from adastack.tasks.finite import FiniteTask, Floats, Ints
from adastack.theory.dynamics import Dynamics, dynamics

MAX_BELIEFS = 20_000
DIGITS = 12
"""Beliefs that agree to this many digits are the same belief."""

Step = tuple[int, int, float]
"""The observation that follows, the belief it leads to, and how likely it is."""
Support = tuple[tuple[int, float], ...]
"""The hidden states that are possible, with their probabilities."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The reachable beliefs of a task and the process they form. Build it with `beliefs`."""

    task: FiniteTask
    hidden: Dynamics
    supports: list[Support]
    steps: list[list[tuple[Step, ...]]]
    """``[belief][action]``: what can follow; less than one in sum if the episode may end."""
    first: tuple[Step, ...]
    """The first observation, the belief it leads to, and how likely it is."""

    def __len__(self) -> int:
        return len(self.supports)

    @cached_property
    def observation(self) -> Ints:
        """(beliefs,): the observation that each belief has just seen."""
        seen = [self.task.observation[support[0][0]] for support in self.supports]
        return np.array(seen, np.int32)

    @cached_property
    def weights(self) -> Matrix:
        """(beliefs, states), sparse: each belief as a distribution."""
        rows = np.repeat(np.arange(len(self)), [len(support) for support in self.supports])
        entries = [entry for support in self.supports for entry in support]
        states, chances = zip(*entries, strict=True)
        return sparse.csr_array((chances, (rows, states)), shape=(len(self), self.task.n_states))

    @cached_property
    def reward(self) -> Floats:
        """(beliefs, actions): the expected reward."""
        expected: Floats = self.weights @ self.hidden.reward
        return expected

    @cached_property
    def transition(self) -> Matrix:
        """(beliefs * actions, beliefs), sparse: row ``belief * n_actions + action``."""
        rows, columns, chances = [], [], []
        actions = self.task.n_actions
        for belief, by_action in enumerate(self.steps):
            for action, steps in enumerate(by_action):
                rows += [belief * actions + action] * len(steps)
                columns += [after for _, after, _ in steps]
                chances += [chance for _, _, chance in steps]
        shape = (len(self) * actions, len(self))
        return sparse.csr_array((chances, (rows, columns)), shape=shape)


def beliefs(task: FiniteTask, *, max_beliefs: int = MAX_BELIEFS) -> Beliefs:
    """Enumerates the beliefs that can be reached, whatever the agent does.

    Args:
        task: The task; its time limit is ignored.
        max_beliefs: How many beliefs to hold at most.

    Raises:
        TooLargeError: If there are more.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> len(beliefs(passive_tmaze(length=5)))
        10
    """
    hidden = dynamics(task)
    numbers = _Numbers(task)
    start = {int(state): float(task.start[state]) for state in task.start_states}
    first = numbers.split(start)
    successors = hidden.successors
    steps: list[list[tuple[Step, ...]]] = []
    while len(steps) < len(numbers.supports):
        if len(numbers.supports) > max_beliefs:
            raise TooLargeError(
                f"{task.name} has more than {max_beliefs:,} reachable beliefs: "
                "use a shorter task or a larger max_beliefs"
            )
        support = numbers.supports[len(steps)]
        steps.append([numbers.split(_spread(support, rows)) for rows in successors])
    return Beliefs(task, hidden, numbers.supports, steps, first)


class _Numbers:
    """Gives every distinct belief a number."""

    def __init__(self, task: FiniteTask) -> None:
        self.observation = task.observation.tolist()
        self.supports: list[Support] = []
        self.known: dict[Support, int] = {}

    def split(self, mass: dict[int, float]) -> tuple[Step, ...]:
        """The beliefs that the next observation tells apart, in the order of observations."""
        parts: dict[int, dict[int, float]] = {}
        for state, chance in mass.items():
            parts.setdefault(self.observation[state], {})[state] = chance
        return tuple((seen, *self._number(parts[seen])) for seen in sorted(parts))

    def _number(self, part: dict[int, float]) -> tuple[int, float]:
        total = sum(part.values())
        support = tuple(sorted((state, chance / total) for state, chance in part.items()))
        key = tuple((state, round(chance, DIGITS)) for state, chance in support)
        if key not in self.known:
            self.known[key] = len(self.supports)
            self.supports.append(support)
        return self.known[key], total


def _spread(support: Support, rows: list[list[tuple[int, float]]]) -> dict[int, float]:
    """Where one action takes a belief, before anything is seen."""
    mass: dict[int, float] = {}
    for state, weight in support:
        for after, chance in rows[state]:
            mass[after] = mass.get(after, 0.0) + weight * chance
    return mass
