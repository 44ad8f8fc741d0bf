"""Success while training and in tests."""

from __future__ import annotations

from adastack.lab.experiment import Analysis
from adastack.lab.experiments.minigrid.sweep import FULL, RANDOM, STUDY
from adastack.lab.experiments.worlds import show_world, succeeds_more
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """Curves, bars, and success by size."""
    what = "MiniGrid-Memory of size 13 with hallways of random length, PPO with an MLP"
    tests = {"Hallways of random length": RANDOM, "Hallways as long as the world": FULL}
    return show_world(results, STUDY, what, tests=tests)


CLAIMS = succeeds_more(STUDY, "minigrid", "In MiniGrid-Memory", "Figure 6d")
