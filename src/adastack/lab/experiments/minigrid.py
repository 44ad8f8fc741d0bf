"""MiniGrid-Memory of size 13: AS(2) and FS(2), tested in worlds of other sizes."""

from __future__ import annotations

from adastack.lab.experiment import Experiment
from adastack.lab.studies.study import Memory
from adastack.lab.studies.worlds import REMEMBERED, show_world, succeeds_more, world_study

WHAT = "MiniGrid-Memory of size 13 with hallways of random length, PPO with an MLP"
FULL = tuple(f"minigrid-memory:size={size}" for size in (7, 9, 11, 13, 17))
RANDOM = tuple(f"{spec},random_length=true" for spec in FULL)
TESTS = {"Hallways of random length": RANDOM, "Hallways as long as the world": FULL}
STUDY = world_study(
    "minigrid-memory:size=13,random_length=true",
    (Memory("AS(k)", "adaptive", 2), Memory("FS(k)", "frame", 2)),
    (*RANDOM, *FULL),
    greedy=False,
    metrics=REMEMBERED,
    smoke_steps=8192,
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs,
    analyse=lambda results: show_world(results, STUDY, WHAT, tests=TESTS),
    claims=succeeds_more(STUDY, "minigrid", "In MiniGrid-Memory", "Figure 6d"),
)
