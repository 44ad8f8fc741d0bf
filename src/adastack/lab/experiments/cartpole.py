"""CartPole with only its speeds in view: AS(2) and FS(2)."""

from __future__ import annotations

from adastack.lab.claims import Claim, all_of, near
from adastack.lab.experiment import Experiment
from adastack.lab.studies.study import Memory
from adastack.lab.studies.worlds import show_world, world_study

TASK = "velocity-only-cartpole"
WHAT = "CartPole with only its speeds in view, PPO with an MLP; a perfect return is 1"
STUDY = world_study(
    TASK,
    (Memory("AS(κ)", "adaptive", 2), Memory("FS(k*)", "frame", 2)),
    (TASK,),
    greedy=False,
    metrics={"auc_return": "Return over the training", "return": "Return after training, greedy"},
)
CLAIMS = (
    Claim(
        "cartpole-close",
        "Where the last two observations are all that is needed, AS(2) comes close to FS(2).",
        "Figure 19",
        all_of(
            [near("auc_return", *pair, share=0.2) for pair in STUDY.pairs("AS(κ)", "FS(k*)")],
            "at least 80% of FS(2)'s return over the training",
        ),
    ),
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs, analyse=lambda results: show_world(results, STUDY, WHAT), claims=CLAIMS
)
