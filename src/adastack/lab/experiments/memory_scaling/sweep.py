"""AS(k) and FS(k) for k from 2 to 16, corridors of 0 to 16 cells; tested on fixed lengths."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.grids import tested
from adastack.lab.experiments.study import Memory, Point, Study, tmaze
from adastack.lab.job import Job

SIZES = (2, 4, 8, 16)
LONGEST, SMOKE_LONGEST = 18, 4
TESTS = (2, 4, 8, 16, 32, 64)


def _points(longest: int, sizes: tuple[int, ...]) -> tuple[Point, ...]:
    task = tmaze("passive", longest, random_length=True)
    return tuple(
        Point(str(k), task, (Memory("AS(k)", "adaptive", k), Memory("FS(k)", "frame", k)))
        for k in sizes
    )


def study_of(algo: str) -> Study:
    """The study with an algorithm."""
    study = Study(
        "stack size k", _points(LONGEST, SIZES), smoke=_points(SMOKE_LONGEST, (2, 4)), algo=algo
    )
    tests = [tmaze("passive", length) for length in TESTS]
    return tested(study, tests, smoke=tests[:2])


STUDY = study_of("ppo")


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
