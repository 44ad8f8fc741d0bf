"""AS(2) and FS(2) on the CartPole of which only the speeds are seen."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.experiments.study import Memory
from adastack.lab.experiments.worlds import world_study
from adastack.lab.job import Job

TASK = "velocity-only-cartpole"
STUDY = world_study(
    TASK,
    (Memory("AS(κ)", "adaptive", 2), Memory("FS(k*)", "frame", 2)),
    (TASK,),
    greedy=False,
    metrics={"auc_return": "Return over the training", "return": "Return after training, greedy"},
)


def sweep(scale: Scale) -> list[Job]:
    """All trainings."""
    return STUDY.jobs(scale)
