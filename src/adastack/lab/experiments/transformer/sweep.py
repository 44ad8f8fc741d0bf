"""The length scaling with a Transformer over the slots."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.length_scaling.sweep import study_of
from adastack.lab.job import Job

STUDY = study_of("transformer", batch=1)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
