"""AS(2), FS(2) and FS(k*) at lengths 2 to 6, passive and active, and AS(2) with our settings."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Q_SEEDS, Memory, Point, Study, lengths
from adastack.lab.job import Job

LENGTHS = (2, 3, 4, 5, 6)
ROBUST = Memory("AS(κ), robust", "adaptive", 2, algo="sarsa", preset="robust")


def _points(kind: str, sizes: tuple[int, ...]) -> tuple[Point, ...]:
    points = lengths(kind, sizes, continual=True)
    return tuple(replace(point, memories=(*point.memories, ROBUST)) for point in points)


def _study(kind: str) -> Study:
    return Study(
        "maze length",
        _points(kind, LENGTHS),
        smoke=_points(kind, LENGTHS[:2]),
        algo="q",
        seeds=Q_SEEDS,
        batch=Q_SEEDS,
        continual=True,
    )


PASSIVE, ACTIVE = _study("passive"), _study("active")


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return PASSIVE.jobs(scale) + ACTIVE.jobs(scale)
