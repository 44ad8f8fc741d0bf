"""Curves of the return, bars of return and success."""

from __future__ import annotations

from adastack.lab.claims import Arm, above, all_of, between, near
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.study_figures import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    seed_table,
)
from adastack.lab.experiments.xormaze.sweep import STUDY
from adastack.lab.results import Results

BARS = {
    "auc_return": "Return over the training",
    "success": "Success after training",
    "auc_memory_regret": "Memory regret",
}


def analyse(results: Results) -> Analysis:
    """What each memory earns."""
    what = "XorMaze with Q-learning"
    return analysis(
        [
            seed_table(results, STUDY, "seeds", f"{what}; κ = 3, and FS(k*) has 5 slots."),
            comparison_table(results, STUDY, "comparison", what),
        ],
        [
            curve_figure(results, STUDY, "curves", f"{what}: return while learning."),
            bar_figure(results, STUDY, "bars", f"{what}.", BARS),
        ],
    )


def _arm(label: str) -> Arm:
    return STUDY.arm("XorMaze", label)


CLAIMS = (
    Claim(
        "xormaze-solves",
        "AS(3) learns to solve the XorMaze and converges to what the oracle FS(5) earns.",
        "Figures 6a and 31",
        all_of(
            [near("end_return", _arm("AS(κ)"), _arm("FS(k*)"))],
            "over the last tenth of the training at least 90% of FS(5)'s return",
        ),
    ),
    Claim(
        "xormaze-greedy",
        "What AS(3) has learned solves the XorMaze without exploration, too.",
        "Figures 6a and 31, read strictly",
        all_of(
            [between("success", _arm("AS(κ)"), low=0.9)],
            "a mean success of at least 0.9 of the greedy policies",
        ),
    ),
    Claim(
        "xormaze-above",
        "AS(3) earns more than FS(3), which cannot hold both cues.",
        "Figures 6a and 31",
        all_of([above("auc_return", _arm("AS(κ)"), _arm("FS(κ)"))], "95% interval above 0"),
    ),
    Claim(
        "xormaze-demir",
        "Demir's push/skip with three slots earns less than AS(3).",
        "Figure 31",
        all_of([above("auc_return", _arm("AS(κ)"), _arm("Demir(κ)"))], "95% interval above 0"),
    ),
    Claim(
        "xormaze-bonus",
        "With the bonus for rare observations Demir's memory fails: it earns less than without.",
        "Figure 31; Appendix, comparison with Demir",
        all_of(
            [
                above("auc_return", _arm("Demir(κ)"), _arm("Demir(κ) + IM")),
                between("success", _arm("Demir(κ) + IM"), high=0.6),
            ],
            "95% interval above 0, and a mean success of at most 0.6",
        ),
    ),
)
