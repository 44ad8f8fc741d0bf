"""The tabular study with Demir's memory beside it, with and without its bonus."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import DEMIR_SEEDS, Memory, Point, Study
from adastack.lab.experiments.tabular.sweep import ACTIVE as TABULAR_ACTIVE
from adastack.lab.experiments.tabular.sweep import PASSIVE as TABULAR_PASSIVE
from adastack.lab.experiments.tabular.sweep import ROBUST
from adastack.lab.job import Job

DEMIR = (
    Memory("Demir(κ)", "push_skip", 2, seeds=DEMIR_SEEDS),
    Memory("Demir(κ) + IM", "push_skip", 2, {"intrinsic": "rare"}, seeds=DEMIR_SEEDS),
)


def _with_demir(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return tuple(
        replace(point, memories=(*(m for m in point.memories if m != ROBUST), *DEMIR))
        for point in points
    )


def _study(study: Study) -> Study:
    return replace(study, points=_with_demir(study.points), smoke=_with_demir(study.smoke))


PASSIVE, ACTIVE = _study(TABULAR_PASSIVE), _study(TABULAR_ACTIVE)


def sweep(scale: Scale) -> list[Job]:
    """All trainings; those of AS and FS are the tabular ones."""
    return PASSIVE.jobs(scale) + ACTIVE.jobs(scale)
