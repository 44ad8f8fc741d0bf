"""The memory scaling without a critic."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.memory_scaling.sweep import study_of
from adastack.lab.job import Job

STUDY = study_of("grpo")


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
