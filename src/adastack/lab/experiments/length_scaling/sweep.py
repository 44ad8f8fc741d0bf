"""AS(2), FS(2) and FS(k*) in episodic passive mazes with random corridors, up to length 64."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Study, lengths, smoke_points
from adastack.lab.job import BATCH, Job

LENGTHS = (2, 4, 8, 16, 64)


def study_of(net: str | None, batch: int = BATCH) -> Study:
    """The study with a network: None for the MLP."""
    short = lengths("passive", (4,), random_length=True)
    return Study(
        "maximum maze length",
        lengths("passive", LENGTHS, random_length=True),
        smoke=short if net is None else smoke_points(short),
        net=net,
        batch=batch,
    )


STUDY = study_of(None)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
