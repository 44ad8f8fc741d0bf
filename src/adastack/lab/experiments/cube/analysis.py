"""Success while training and in tests."""

from __future__ import annotations

from adastack.lab.experiment import Analysis
from adastack.lab.experiments.cube.sweep import DEPTHS, STUDY
from adastack.lab.experiments.worlds import show_world, succeeds_more
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """Curves, bars, and success by depth."""
    what = "The cube, one to three turns away from solved, PPO with an MLP"
    return show_world(results, STUDY, what, tests={"Scrambles of one depth": DEPTHS})


CLAIMS = succeeds_more(STUDY, "cube", "On scrambled cubes", "Figure 6c")
