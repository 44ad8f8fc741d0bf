"""AS(3), FS(3), FS(5) and Demir's push/skip, with and without its bonus."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Q_SEEDS, Memory, Point, Study
from adastack.lab.job import Job

POINTS = (
    Point(
        "XorMaze",
        "xormaze",
        (
            Memory("AS(κ)", "adaptive", 3),
            Memory("FS(κ)", "frame", 3),
            Memory("FS(k*)", "frame", 5),
            Memory("Demir(κ)", "push_skip", 3),
            Memory("Demir(κ) + IM", "push_skip", 3, {"intrinsic": "rare"}),
            Memory("AS(κ), robust", "adaptive", 3, algo="sarsa", preset="robust"),
        ),
    ),
)
STUDY = Study("", POINTS, smoke=POINTS, algo="q", seeds=Q_SEEDS, batch=Q_SEEDS)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
