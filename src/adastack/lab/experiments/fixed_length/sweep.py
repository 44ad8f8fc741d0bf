"""AS(2), FS(2) and FS(k*) in episodic mazes of length 2 to 6, passive and active."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Study, lengths, smoke_points
from adastack.lab.job import Job

LENGTHS = (2, 3, 4, 5, 6)


def _study(kind: str) -> Study:
    return Study("maze length", lengths(kind, LENGTHS), smoke=smoke_points(lengths(kind, (3,))))


PASSIVE, ACTIVE = _study("passive"), _study("active")


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return PASSIVE.jobs(scale) + ACTIVE.jobs(scale)
