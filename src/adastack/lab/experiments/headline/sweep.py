"""AS(2) and FS(16) with three networks, trained at length 16, tested at a million."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Memory, Point, Study, tmaze
from adastack.lab.job import BATCH, Job

LENGTH, LONG = 16, tmaze("passive", 1_000_000)
SMOKE_LENGTH, SMOKE_LONG = 4, tmaze("passive", 1000)
FEW = 3
"""Seeds of FS(16) with networks that read slot by slot."""


def _point(name: str, length: int, test: str, seeds: int | None, published: bool) -> Point:
    memories = [
        Memory("AS(κ), robust", "adaptive", 2),
        Memory("FS(k*), robust", "frame", length, seeds=seeds),
    ]
    if published:
        memories += [
            Memory("AS(κ)", "adaptive", 2, preset="paper"),
            Memory("FS(k*)", "frame", length, preset="paper"),
        ]
    return Point(name, tmaze("passive", length), tuple(memories), (test,))


def _smoke(name: str, net: str | None) -> Point:
    """As short as can be; the slow networks with one memory alone."""
    point = _point(name, SMOKE_LENGTH, SMOKE_LONG, None, published=False)
    return point if net is None else replace(point, memories=point.memories[:1])


def _study(name: str, net: str | None) -> Study:
    few = None if net is None else FEW
    return Study(
        "network",
        (_point(name, LENGTH, LONG, few, published=net is None),),
        smoke=(_smoke(name, net),),
        preset="robust",
        net=net,
        batch=BATCH if net is None else 1,
    )


STUDIES = {
    name: _study(name, net)
    for name, net in (("MLP", None), ("LSTM", "lstm"), ("Transformer", "transformer"))
}


def sweep(scale: Scale) -> list[Job]:
    """All trainings, the quick ones first."""
    return [job for study in STUDIES.values() for job in study.jobs(scale)]
