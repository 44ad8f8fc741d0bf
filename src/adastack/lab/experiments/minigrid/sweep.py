"""AS(2) and FS(2) in worlds of size 13, tested in other sizes."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Memory
from adastack.lab.experiments.worlds import REMEMBERED, world_study
from adastack.lab.job import Job

FULL = tuple(f"minigrid-memory:size={size}" for size in (7, 9, 11, 13, 17))
RANDOM = tuple(f"{spec},random_length=true" for spec in FULL)
STUDY = world_study(
    "minigrid-memory:size=13,random_length=true",
    (Memory("AS(k)", "adaptive", 2), Memory("FS(k)", "frame", 2)),
    (*RANDOM, *FULL),
    greedy=False,
    metrics=REMEMBERED,
    smoke_steps=8192,
)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
