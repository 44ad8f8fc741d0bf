"""AS(4), FS(4) and FS(50) with three networks; tested with goals that stay and hide longer."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import FETCH_SEEDS, Memory
from adastack.lab.experiments.worlds import REMEMBERED, world_study
from adastack.lab.job import Evaluation, Job

TASK = "fetch-reach"
PERIODS = tuple(f"{TASK}:goal_period={n}" for n in (25, 50, 100, 200, 500, 1000, 5000))
VISIBLE = tuple(f"{TASK}:visible_steps={n}" for n in (1, 2, 5, 10, 25, 50))
MILLION = f"{TASK}:goal_period=1000000"
MEMORIES = (
    # A million steps of a robot arm take minutes: one attempt, and only where it can succeed.
    Memory("AS(κ)", "adaptive", 4, tests=(Evaluation(MILLION, episodes=1),)),
    Memory("FS(κ)", "frame", 4),
    Memory("FS(k*)", "frame", 50),
)
NETS = {"MLP": None, "LSTM": "lstm", "Transformer": "transformer"}
STUDIES = {
    name: world_study(
        TASK,
        MEMORIES,
        (*PERIODS, *VISIBLE),
        name=name,
        net=net,
        metrics={**REMEMBERED, "auc_return": "Sum of rewards for a goal"},
        seeds=FETCH_SEEDS,
        episodes=16,
        smoke=net is None,
        smoke_steps=2048,
    )
    for name, net in NETS.items()
}


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return [job for study in STUDIES.values() for job in study.jobs(scale)]
