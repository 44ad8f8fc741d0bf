"""AS(10) and FS(10) on cubes one to three turns away from solved, tested at each depth."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Memory
from adastack.lab.experiments.worlds import world_study
from adastack.lab.job import Job

TASK = "cube:depth=3,random_depth=true"
DEPTHS = tuple(f"cube:depth={depth}" for depth in (1, 2, 3, 4))
STUDY = world_study(
    TASK,
    (Memory("AS(k)", "adaptive", 10), Memory("FS(k)", "frame", 10)),
    (TASK, *DEPTHS),
    episodes=512,
    smoke_steps=6400,
)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
