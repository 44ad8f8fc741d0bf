"""MiniGrid-Memory of sizes 13 and 17: AS(2) and FS(2), tested in worlds of other sizes."""

from __future__ import annotations

from adastack.lab.experiment import Experiment
from adastack.lab.studies.study import Memory, sweep_of
from adastack.lab.studies.study_figures import together
from adastack.lab.studies.worlds import REMEMBERED, show_world, succeeds_more, world_study

WHAT = "MiniGrid-Memory of size 13 with hallways of random length, PPO with an MLP"
FEW, MORE = 5, 12
"""Seeds of size 17, where FS(17) is slow; five did not say which of two slots is better."""
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
LARGE = world_study(
    RANDOM[-1],
    (
        Memory("AS(k)", "adaptive", 2),
        Memory("FS(k)", "frame", 2),
        Memory("FS(k*)", "frame", 17, seeds=FEW),
    ),
    (RANDOM[-1], FULL[-1]),
    greedy=False,
    metrics=REMEMBERED,
    seeds=MORE,
    smoke=False,
)
"""The world of the authors' code, which has FS(17) beside."""
EXPERIMENT = Experiment(
    sweep=sweep_of([STUDY, LARGE]),
    analyse=lambda results: together(
        [
            show_world(results, STUDY, WHAT, tests=TESTS),
            show_world(results, LARGE, WHAT.replace("13", "17"), key="s17"),
        ]
    ),
    claims=(
        *succeeds_more(STUDY, "minigrid", "In MiniGrid-Memory", "Figure 6d"),
        *succeeds_more(LARGE, "minigrid-s17", "In MiniGrid-Memory of size 17", "Figure 6d"),
    ),
)
