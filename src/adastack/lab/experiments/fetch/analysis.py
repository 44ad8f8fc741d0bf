"""Success while training, and with goals that stay longer or are seen for longer."""

from __future__ import annotations

from adastack.lab.claims import above, all_of, between
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.fetch.sweep import PERIODS, STUDIES, TASK
from adastack.lab.experiments.shown import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    seed_table,
)
from adastack.lab.experiments.worlds import figure_of_tests, panel_of_tests
from adastack.lab.results import Results

BARS = {
    "auc_success": "Success over the training",
    "success": "Success after training",
    "auc_reward": "Reward per 1000 steps, training",
}
FOREVER = f"{TASK}:goal_period={PERIODS[-1]}"
MLP = STUDIES["MLP"]


def analyse(results: Results) -> Analysis:
    """For each network curves, bars and the tests."""
    drawn, tables = [], []
    for name, study in STUDIES.items():
        what = f"FetchReach, PPO with {name}"
        key = name.lower()
        drawn += [
            curve_figure(results, study, f"{key}-curves", f"{what}: success.", "success"),
            bar_figure(results, study, f"{key}-bars", f"{what}.", BARS),
            figure_of_tests(
                f"{key}-tests",
                f"{what}: success in tests; trained with a new goal every 50 steps, shown twice.",
                [
                    panel_of_tests(results, study, "goal_period", "The goal stays longer"),
                    panel_of_tests(results, study, "visible_steps", "The goal is seen for longer"),
                ],
            ),
        ]
        tables.append(seed_table(results, study, key, f"{what}."))
        tables.append(comparison_table(results, study, f"{key}-comparison"))
    return analysis(tables, drawn)


CLAIMS = (
    Claim(
        "fetch-above",
        "AS(4) succeeds more often than FS(4).",
        "Figure 6b",
        all_of(
            [above("success", MLP.arm("MLP", "AS(κ)"), MLP.arm("MLP", "FS(κ)"))],
            "after training, with an MLP, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-oracle",
        "AS(4) succeeds even more often than the oracle FS(50), which learns from full histories.",
        "Figure 6b",
        all_of(
            [above("success", MLP.arm("MLP", "AS(κ)"), MLP.arm("MLP", "FS(k*)"))],
            "after training, with an MLP, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-keeps",
        "AS(4), trained to remember a goal for 50 steps, still has it when it never changes.",
        "Section 5, other domains; Figure 29",
        all_of(
            [between("success", MLP.arm("MLP", "AS(κ)", FOREVER), low=0.9)],
            "with an MLP, a mean success of at least 0.9 after as many steps as a test takes",
        ),
    ),
    Claim(
        "fetch-forgets",
        "FS(50) fails when the goal never changes, with every network.",
        "Section 5, other domains; Figure 29",
        all_of(
            [
                between("success", study.arm(name, "FS(k*)", FOREVER), high=0.2)
                for name, study in STUDIES.items()
            ],
            "a mean success of at most 0.2 with MLP, LSTM and Transformer",
        ),
    ),
)
