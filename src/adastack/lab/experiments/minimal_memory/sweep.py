"""kappa with both memories, and the value gap, over maze lengths."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import tmaze
from adastack.lab.job import Job

MAZES = ("passive", "active")
LENGTHS, SMOKE_LENGTHS = (2, 3, 4, 5, 6, 8, 12, 16), (2, 3)
GAP_LENGTHS, SMOKE_GAP_LENGTHS = (3, 4, 8, 16, 32, 64, 128, 256), (3, 4)
RULES = ("adaptive", "frame")
CHOICES = 2000
"""Enough to decide each size; a longer search would only look for the best that is too small."""


def sweep(scale: Scale) -> list[Job]:
    """Exact computations alone."""
    lengths = scale.pick(paper=LENGTHS, smoke=SMOKE_LENGTHS)
    tasks = [tmaze(maze, length) for maze in MAZES for length in lengths]
    gap_lengths = list(scale.pick(paper=GAP_LENGTHS, smoke=SMOKE_GAP_LENGTHS))
    return [
        *(kappa_job(task, rule) for task in (*tasks, "xormaze") for rule in RULES),
        *(gap_job(maze, gap_lengths) for maze in MAZES),
    ]


def kappa_job(task: str, rule: str) -> Job:
    """The smallest sufficient stack of one memory."""
    return Job("kappa", {"task": task, "memory": rule, "max_choices": CHOICES})


def gap_job(maze: str, lengths: list[int]) -> Job:
    """The gap of one maze."""
    return Job("gap", {"task": f"{maze}-tmaze", "lengths": lengths, "k": 2, "gamma": 0.99})
