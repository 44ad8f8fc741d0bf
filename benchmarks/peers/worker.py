"""What every process does: train when asked, and say how fast that was."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

LAYERS = (128, 128, 128)
N_STEPS = 128


@dataclass(frozen=True)
class Case:
    """What is trained."""

    cell: str
    """gru, lstm or none."""
    n_envs: int
    batch_size: int
    n_epochs: int
    turn: int
    """Updates in a turn."""

    @property
    def steps_per_update(self) -> int:
        """Of all environments."""
        return self.n_envs * N_STEPS


CASES = {
    f"{cell}-{n_envs}": Case(cell, n_envs, *rest)
    for cell in ("gru", "lstm", "none")
    for n_envs, rest in {16: (512, 4, 2), 1: (128, 10, 4)}.items()
}
"""Sixteen environments, and the paper's one."""


def serve(make: Callable[[Case], Callable[[int], object]]) -> None:
    """Answers each line of standard input, the name of a case, by steps a second.

    Args:
        make: Case -> a function that trains for so many updates and waits for the end.
    """
    trained: dict[str, Callable[[int], object]] = {}
    for line in sys.stdin:
        name = line.strip()
        case = CASES[name]
        if name not in trained:
            trained[name] = make(case)
            trained[name](case.turn)  # Compiles.
        began, used = time.perf_counter(), time.process_time()
        trained[name](case.turn)
        steps = case.turn * case.steps_per_update
        # Processor time is what a busy machine leaves as it is.
        rates = (steps / (time.process_time() - used), steps / (time.perf_counter() - began))
        print(*rates, flush=True)
