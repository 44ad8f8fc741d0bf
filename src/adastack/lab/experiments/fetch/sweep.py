"""AS(4), FS(4) and FS(50) with three networks; tested with goals that stay and hide longer."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import FETCH_SEEDS, Memory
from adastack.lab.experiments.worlds import world_study
from adastack.lab.job import Job

TASK = "fetch-reach"
PERIODS = (25, 50, 100, 200, 500, 1000, 1_000_000)
VISIBLE = (1, 2, 5, 10, 25, 50)
MEMORIES = (
    Memory("AS(κ)", "adaptive", 4),
    Memory("FS(κ)", "frame", 4),
    Memory("FS(k*)", "frame", 50),
)
TESTS = (
    *(f"{TASK}:goal_period={steps}" for steps in PERIODS),
    *(f"{TASK}:visible_steps={steps}" for steps in VISIBLE),
)
NETS = {"MLP": None, "LSTM": "lstm", "Transformer": "transformer"}
STUDIES = {
    name: world_study(
        TASK,
        MEMORIES,
        TESTS,
        name=name,
        net=net,
        seeds=FETCH_SEEDS,
        batch=1,
        episodes=16,
        smoke=net is None,
        smoke_steps=2048,
    )
    for name, net in NETS.items()
}


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return [job for study in STUDIES.values() for job in study.jobs(scale)]
