"""The XorMaze with Q-learning: AS(3), FS(3), FS(5) and Demir's push/skip."""

from __future__ import annotations

from adastack.lab.checks import above, near, solves, unsolved
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.experiments.demir import HIDDEN, LABELS, SHOWN, demir
from adastack.lab.results import Results
from adastack.lab.studies.study import Q_SEEDS, Memory, Point, Study
from adastack.lab.studies.study_figures import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    seed_table,
)

POINTS = (
    Point(
        "XorMaze",
        "xormaze",
        (
            # Half of the seeds solve it, so it takes many to say whether most do.
            Memory("AS(κ)", "adaptive", 3, seeds=400),
            Memory("FS(κ)", "frame", 3),
            Memory("FS(k*)", "frame", 5),
            *demir(3),
            Memory("AS(κ), robust", "adaptive", 3, algo="sarsa", preset="robust"),
        ),
    ),
)
STUDY = Study("", POINTS, smoke=POINTS, algo="q", seeds=Q_SEEDS, batch=Q_SEEDS)
ADAPTIVE, FRAME, ORACLE, DEMIR, BONUS, UNSEEN, UNSEEN_BONUS = (
    STUDY.arm("XorMaze", label) for label in ("AS(κ)", "FS(κ)", "FS(k*)", *LABELS)
)
BARS = {
    "auc_return": "Return over the training",
    "success": "Success after training",
    "auc_memory_regret": "Memory regret",
}


def analyse(results: Results) -> Analysis:
    """Curves of the return, bars of return and success."""
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


CLAIMS = (
    Claim(
        "xormaze-solves",
        "AS(3) learns to solve the XorMaze and converges to what the oracle FS(5) earns.",
        "Figures 6a and 31",
        all_of(
            [near("end_episode_return", ADAPTIVE, ORACLE)],
            "over the last tenth of the training at least 90% of FS(5)'s return",
        ),
        reading="return by episode, as the paper defines it",
    ),
    Claim(
        "xormaze-greedy",
        "What AS(3) has learned solves the XorMaze without exploration, too.",
        "Figures 6a and 31, read strictly",
        all_of(
            [solves("success", ADAPTIVE, 0.99)],
            "more than half of the greedy policies succeed in 99% of the attempts",
        ),
        ours=True,
    ),
    Claim(
        "xormaze-above",
        "AS(3) earns more than FS(3), which cannot hold both cues.",
        "Figures 6a and 31",
        all_of([above("auc_return", ADAPTIVE, FRAME)], "95% interval above 0"),
    ),
    Claim(
        "xormaze-demir",
        "Demir's push/skip with three slots earns less than AS(3).",
        "Figure 31",
        all_of([above("auc_return", ADAPTIVE, DEMIR)], "95% interval above 0"),
        reading=SHOWN,
    ),
    Claim(
        "xormaze-bonus",
        "With the bonus for rare observations Demir's memory fails: it earns less than without.",
        "Figure 31; Appendix, comparison with Demir",
        all_of(
            [above("auc_return", DEMIR, BONUS), unsolved("success", BONUS, 0.99)],
            "95% interval above 0, and fewer than half of the seeds solve it",
        ),
        reading=SHOWN,
    ),
    Claim(
        "xormaze-demir-unseen",
        "Demir's push/skip with three slots earns less than AS(3), if a skip is not shown.",
        "Figure 31",
        all_of(
            [above("auc_return", ADAPTIVE, UNSEEN), above("auc_return", ADAPTIVE, UNSEEN_BONUS)],
            "with and without the bonus, 95% interval above 0",
        ),
        reading=HIDDEN,
    ),
)
EXPERIMENT = Experiment(sweep=STUDY.jobs, analyse=analyse, claims=CLAIMS)
