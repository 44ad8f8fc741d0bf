"""What the exact theory says about the memory that a finite task needs."""

from __future__ import annotations

from dataclasses import dataclass

from adastack.diagnosis.memories import CELL, NONE, Memory
from adastack.diagnosis.verdict import Verdict
from adastack.tasks.finite import FiniteTask
from adastack.theory.kappa import MAX_K, QUICK_STATES, KappaResult, kappa
from adastack.theory.optimal import Criterion

MAX_CHOICES = 5000
"""How long to search, for each stack size: what takes seconds."""


@dataclass(frozen=True)
class Proof:
    """The smallest sufficient stacks of both rules."""

    chosen: KappaResult
    """With slots that the agent chooses."""
    window: KappaResult
    """With the last observations."""

    @property
    def verdict(self) -> Verdict:
        """What is proved."""
        return proved_verdict(
            self.chosen.kappa, self.window.kappa, self.window.at_least, self.chosen.no_stack
        )


def prove(task: FiniteTask, max_k: int = MAX_K) -> Proof | None:
    """The proof for a task; None if it is too large, or something was left undecided."""
    if task.n_states > QUICK_STATES:
        return None
    criterion: Criterion = "average" if task.continual and task.discount is None else "discounted"
    try:
        found = [
            kappa(task, rule, max_k, criterion=criterion, max_choices=MAX_CHOICES)
            for rule in ("adaptive", "frame")
        ]
    except ValueError:
        return None
    proof = Proof(*found)
    return proof if proof.verdict.decided else None


def proved_verdict(
    chosen: int | None, window: int | None, window_at_least: int, no_stack: bool
) -> Verdict:
    """What follows from the smallest sufficient stacks.

    Args:
        chosen: kappa with chosen slots; None if it is not known.
        window: The same for the last observations.
        window_at_least: Every smaller window is too small.
        no_stack: No stack of any size is enough.
    """
    if no_stack:
        return Verdict(needs_memory=True, memory=CELL, proved=True)
    if chosen is None:
        return Verdict()
    if chosen == 1:
        return Verdict(needs_memory=False, memory=NONE, proved=True)
    slots = Memory("adaptive", chosen)
    if window == chosen:
        return Verdict(needs_memory=True, memory=Memory("frame", chosen), proved=True)
    decided = window_at_least > chosen
    return Verdict(needs_memory=True, memory=slots if decided else None, at_most=slots, proved=True)
