"""kappa with both memories, and the value gap, over maze lengths."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import tmaze
from adastack.lab.job import Job

MAZES = ("passive", "active")
LENGTHS, SMOKE_LENGTHS = (2, 3, 4, 5, 6, 8, 10), (2, 3)
GAP_LENGTHS, SMOKE_GAP_LENGTHS = (3, 4, 8, 16, 32, 64, 128, 256), (3, 4)
RULES = ("adaptive", "frame")


def sweep(scale: Scale) -> list[Job]:
    """Exact computations alone."""
    lengths = scale.pick(paper=LENGTHS, smoke=SMOKE_LENGTHS)
    tasks = [tmaze(maze, length) for maze in MAZES for length in lengths]
    gap_lengths = list(scale.pick(paper=GAP_LENGTHS, smoke=SMOKE_GAP_LENGTHS))
    return [
        *(Job("kappa", {"task": t, "memory": r}) for t in (*tasks, "xormaze") for r in RULES),
        *(gap_job(maze, gap_lengths) for maze in MAZES),
    ]


def gap_job(maze: str, lengths: list[int]) -> Job:
    """The gap of one maze."""
    return Job("gap", {"task": f"{maze}-tmaze", "lengths": lengths, "k": 2, "gamma": 0.99})
