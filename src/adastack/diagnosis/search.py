"""The search: which memory is trained next, for how long, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from adastack.diagnosis.memories import Memory
from adastack.diagnosis.plan import wanted
from adastack.diagnosis.verdict import Trial, Verdict, judge
from adastack.progress import Progress
from adastack.tasks.failures import EnvironmentFailure

ROUNDS = 4
"""Rounds of a search by steps: each trains twice as long as the one before."""
NO_ROUNDS, NO_TIME, INTERRUPTED = "all rounds are over", "time is over", "interrupted"
"""Why a search may end before all is decided."""


class OutOfTimeError(Exception):
    """The time that was given is over."""


class Learns(Protocol):
    """What trains a memory."""

    def learn(self, memory: Memory, steps: int, progress: Progress) -> Trial:
        """Trains a memory for so many steps."""


@dataclass
class Budget:
    """How long a search may take."""

    first: int
    """Steps of each seed in the first round."""
    rounds: int | None = None
    """Rounds; None for as many as the time allows."""
    seconds: float | None = None
    """None for as long as it takes."""
    began: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return float("inf") if self.seconds is None else self.seconds - self.spent

    def steps(self, number: int) -> int | None:
        """Steps of each seed in a round; None if there is none any more."""
        if self.rounds is not None and number >= self.rounds:
            return None
        return self.first << number


class Deadline:
    """A progress that ends the run when time is over."""

    def __init__(self, inner: Progress, budget: Budget) -> None:
        self.inner, self.budget = inner, budget

    def update(self, step: int, **numbers: float) -> None:
        """Passes on what is said.

        Raises:
            OutOfTimeError: If time is over.
        """
        self.inner.update(step, **numbers)
        if self.budget.left < 0:
            raise OutOfTimeError


@dataclass
class Found:
    """What a search has found so far."""

    random: Sequence[float]
    trials: list[Trial] = field(default_factory=list)
    failed: dict[Memory, str] = field(default_factory=dict)
    """Memories that could not be trained, and why."""
    stopped: str = ""
    """Why the search ended, if that was not because all is decided."""

    @property
    def verdict(self) -> Verdict:
        """What is known."""
        return judge(self.trials, self.random)


Watch = Callable[[Memory, int], Progress]


def search(
    learner: Learns, random: Sequence[float], budget: Budget, max_k: int, watch: Watch
) -> Found:
    """Trains memories until the verdict is decided or the budget is spent.

    Args:
        learner: What trains.
        random: Scores of random actions.
        budget: How long.
        max_k: The largest stack to try.
        watch: Gives the progress of a memory that is trained for so many steps.
    """
    found, number = Found(random), 0
    done: set[tuple[Memory, int]] = set()
    try:
        while steps := budget.steps(number):
            asked = wanted(found.trials, found.random, max_k, found.failed)
            if not asked:
                return found
            due = [memory for memory in asked if (memory, number) not in done]
            if not due:
                number += 1
                continue
            # One at a time: what it comes to may make the others pointless.
            _train(learner, due[0], steps, budget, found, watch)
            done.add((due[0], number))
        found.stopped = NO_ROUNDS
    except OutOfTimeError:
        found.stopped = NO_TIME
    except KeyboardInterrupt:
        found.stopped = INTERRUPTED
    return found


def _train(
    learner: Learns, memory: Memory, steps: int, budget: Budget, found: Found, watch: Watch
) -> None:
    try:
        progress = Deadline(watch(memory, steps), budget)
        found.trials.append(learner.learn(memory, steps, progress))
    except EnvironmentFailure:
        raise
    except (RuntimeError, MemoryError) as error:
        # One memory that diverges or does not fit says nothing of the others.
        found.failed[memory] = " ".join(str(error).split()) or type(error).__name__
