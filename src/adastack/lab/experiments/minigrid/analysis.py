"""Success while training and in tests."""

from __future__ import annotations

from adastack.lab.claims import above, all_of
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.minigrid.sweep import STUDY
from adastack.lab.experiments.shown import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    seed_table,
)
from adastack.lab.experiments.worlds import figure_of_tests, panel_of_tests
from adastack.lab.results import Results

NAME = STUDY.points[0].name
BARS = {
    "auc_success": "Success over the training",
    "success": "Success after training",
    "auc_return": "Return over the training",
}


def analyse(results: Results) -> Analysis:
    """Curves, bars, and success in other worlds."""
    what = "MiniGrid-Memory of size 13, PPO with an MLP"
    return analysis(
        [
            seed_table(results, STUDY, "seeds", f"{what}."),
            comparison_table(results, STUDY, "comparison"),
        ],
        [
            curve_figure(results, STUDY, "curves", f"{what}: success while training.", "success"),
            bar_figure(results, STUDY, "bars", f"{what}.", BARS),
            figure_of_tests(
                "tests",
                f"{what}: success in tests, greedy.",
                [panel_of_tests(results, STUDY, "size", "Success in tests")],
            ),
        ],
    )


PAIR = (STUDY.arm(NAME, "AS(k)"), STUDY.arm(NAME, "FS(k)"))
CLAIMS = (
    Claim(
        "minigrid-training",
        "In MiniGrid-Memory, AS(2) succeeds more often than FS(2) while training.",
        "Figure 6d",
        all_of([above("auc_success", *PAIR)], "95% interval of the difference above 0"),
    ),
    Claim(
        "minigrid-testing",
        "In MiniGrid-Memory, AS(2) succeeds more often than FS(2) when tested.",
        "Figure 6d",
        all_of([above("success", *PAIR)], "95% interval of the difference above 0"),
    ),
)
