"""Return and regret over the length, and the return over time."""

from __future__ import annotations

from adastack.lab.claims import above, all_of, below, near, rising
from adastack.lab.experiment import Analysis, Claim, Figure, Table
from adastack.lab.experiments.length_scaling.sweep import LENGTHS, STUDY
from adastack.lab.experiments.shown import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    line_figure,
    seed_table,
)
from adastack.lab.experiments.study import Study
from adastack.lab.results import Results

NAMES = [str(n) for n in LENGTHS]
MAIN = {"auc_return": "Return over the training", "auc_memory_regret": "Memory regret"}


def analyse(results: Results) -> Analysis:
    """As the paper's main figure, and the appendix's bars and curves."""
    figures, tables = shown(results, STUDY, "MLP")
    caption = "Episodic Passive-TMaze with random corridors, PPO with an MLP."
    return analysis(tables, [line_figure(results, STUDY, "scaling", caption, MAIN), *figures])


def shown(results: Results, study: Study, net: str) -> tuple[list[Figure], list[Table]]:
    """Bars, curves and table of a network."""
    what = f"Episodic Passive-TMaze with random corridors, PPO, {net}"
    figures = [
        bar_figure(results, study, "bars", f"{what}: means over the training."),
        curve_figure(results, study, "curves", f"{what}: return while learning."),
    ]
    return figures, [
        seed_table(results, study, "seeds", f"{what}."),
        comparison_table(results, study, "comparison"),
    ]


def above_and_near(study: Study, name: str, net: str, where: str) -> tuple[Claim, Claim]:
    """The two claims that the paper makes for each network."""
    return (
        Claim(
            f"{name}-above",
            f"With {net}, AS(2) earns more than FS(2) wherever the maze can be longer than two.",
            where,
            all_of(
                [above("auc_return", *p) for p in study.pairs("AS(κ)", "FS(κ)", NAMES[1:])],
                "at every maximum length from 4 on the difference's 95% interval is above 0",
            ),
        ),
        Claim(
            f"{name}-oracle",
            f"With {net}, AS(2) earns what the oracle FS(k*) earns.",
            where,
            all_of(
                [near("auc_return", *p) for p in study.pairs("AS(κ)", "FS(k*)")],
                "at every maximum length at least 90% of FS(k*)'s return over the training",
            ),
        ),
    )


CLAIMS = (
    *above_and_near(STUDY, "length", "an MLP", "Figure 5a"),
    Claim(
        "length-regret",
        "AS(2) has less memory regret than FS(2).",
        "Section 5, episodic TMaze; Figure 5a",
        all_of(
            [below("auc_memory_regret", *p) for p in STUDY.pairs("AS(κ)", "FS(κ)", NAMES[1:])],
            "at every maximum length from 4 on, 95% interval",
        ),
    ),
    Claim(
        "length-harder",
        "With two slots, the longer the maze, the harder it is to learn what to remember.",
        "Section 5, episodic TMaze; Figure 5a, right",
        all_of(
            [rising("auc_memory_regret", [STUDY.arm(name, "AS(κ)") for name in NAMES])],
            "the memory regret of AS(2) rises from length to length (slack 0.02)",
        ),
    ),
)
