"""How well a policy does, and the optimum that it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from adastack.tasks.finite import FiniteTask, Floats


@dataclass(frozen=True)
class Evaluated:
    """A policy's worth, as means over attempts unless said otherwise."""

    exact: bool
    """Whether these are expectations rather than sample means."""
    steps: float
    reward: float
    discounted: float
    reward_per_step: float
    per_attempt: Mapping[str, float]
    """Each of the `EVENTS`, how often it occurs in an attempt."""
    per_step: Mapping[str, float]
    """Each of the `EVENTS`, as a fraction of steps."""
    agent_states: int
    """Distinct stacks that were held."""
    steps_walked: int
    """How many steps it took to find out."""
    remembered: Floats
    """(observations, 4): per attempt, how often each was evicted and how old it was then, summed;
    how often it was in memory when the attempt was over, and how old it was then, summed."""

    @property
    def success(self) -> float:
        """The chance that an attempt succeeds."""
        return self.per_attempt["successes"]


class Optimum(NamedTuple):
    """What the best policy with perfect memory is worth, and how few stacks can be enough."""

    value: float
    """Discounted return of an attempt, or reward per step of a continual task."""
    agent_states: int | None
    """The stacks held by an optimal policy with as few slots as possible, if one was found."""


def optimality(value: float, optimum: Optimum | None) -> float | None:
    """One less the distance to the optimal value, as a share of it, if that is known."""
    if optimum is None or not optimum.value:
        return None
    return 1 - (optimum.value - value) / abs(optimum.value)


Solve = Callable[[FiniteTask, float], Optimum | None]
"""(task, gamma) -> its optimum, if it can be found soon."""
