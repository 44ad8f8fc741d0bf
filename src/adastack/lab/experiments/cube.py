"""The cube with one face in view: AS(10) and FS(10), tested on scrambles of each depth."""

from __future__ import annotations

from adastack.lab.experiment import Experiment
from adastack.lab.studies.study import Memory
from adastack.lab.studies.worlds import show_world, succeeds_more, world_study

TASK = "cube:depth=3,random_depth=true"
WHAT = "The cube, one to three turns away from solved, PPO with an MLP"
MORE = 20
"""Ten seeds did not say whether one succeeds more often."""
DEPTHS = tuple(f"cube:depth={depth}" for depth in (1, 2, 3, 4))
STUDY = world_study(
    TASK,
    (Memory("AS(k)", "adaptive", 10), Memory("FS(k)", "frame", 10)),
    (TASK, *DEPTHS),
    seeds=MORE,
    episodes=512,
    smoke_steps=6400,
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs,
    analyse=lambda results: show_world(
        results, STUDY, WHAT, tests={"Scrambles of one depth": DEPTHS}
    ),
    claims=succeeds_more(STUDY, "cube", "On scrambled cubes", "Figure 6c"),
)
