"""Bars of both mazes."""

from __future__ import annotations

from adastack.lab.claims import above, all_of
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.demir.sweep import ACTIVE, PASSIVE
from adastack.lab.experiments.shown import analysis, bar_figure, comparison_table, seed_table
from adastack.lab.results import Results

LONGER = ["3", "4", "5", "6"]
MAZES = {"passive": ("Passive-TMaze", PASSIVE), "active": ("Active-TMaze", ACTIVE)}


def analyse(results: Results) -> Analysis:
    """Four metrics over the length."""
    drawn, tables = [], []
    for key, (title, study) in MAZES.items():
        caption = f"Continual {title} with Q-learning: means over the training."
        drawn.append(bar_figure(results, study, f"{key}-bars", caption))
        tables.append(seed_table(results, study, key, f"Continual {title}."))
        tables.append(comparison_table(results, study, f"{key}-comparison"))
    return analysis(tables, drawn)


CLAIMS = tuple(
    Claim(
        f"demir-{key}{'-bonus' if 'IM' in other else ''}",
        f"In the continual {title}, AS(2) earns more than Demir's push/skip"
        + (" with its bonus for rare observations." if "IM" in other else "."),
        "Figure 30",
        all_of(
            [above("auc_reward", *pair) for pair in study.pairs("AS(κ)", other, LONGER)],
            "at lengths 3 to 6 the difference's 95% interval is above 0",
        ),
    )
    for key, (title, study) in MAZES.items()
    for other in ("Demir(κ)", "Demir(κ) + IM")
)
