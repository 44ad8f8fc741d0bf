"""AS(10) and FS(10) on cubes three turns away from solved, tested at other depths."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Memory
from adastack.lab.experiments.worlds import world_study
from adastack.lab.job import Job

DEPTHS = (1, 2, 3, 4, 5)
STUDY = world_study(
    "cube:depth=3",
    (Memory("AS(k)", "adaptive", 10), Memory("FS(k)", "frame", 10)),
    tuple(f"cube:depth={depth}" for depth in DEPTHS),
    smoke_steps=6400,
)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
