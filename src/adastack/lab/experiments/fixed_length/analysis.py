"""Bars and curves of both mazes."""

from __future__ import annotations

from adastack.lab.claims import above, all_of, near
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.fixed_length.sweep import ACTIVE, LENGTHS, PASSIVE
from adastack.lab.experiments.shown import (
    analysis,
    bar_figure,
    comparison_table,
    curve_figure,
    seed_table,
)
from adastack.lab.results import Results

LONGER = [str(n) for n in LENGTHS[1:]]
MAZES = {"passive": ("Passive-TMaze", PASSIVE), "active": ("Active-TMaze", ACTIVE)}


def analyse(results: Results) -> Analysis:
    """Four metrics over the length, and the return over time."""
    drawn, tables = [], []
    for key, (title, study) in MAZES.items():
        what = f"Episodic {title} of fixed length, PPO with an MLP"
        caption = f"{what}: means over the training."
        drawn.append(bar_figure(results, study, f"{key}-bars", caption))
        drawn.append(curve_figure(results, study, f"{key}-curves", f"{what}: return."))
        tables.append(seed_table(results, study, key, f"{what}."))
        tables.append(comparison_table(results, study, f"{key}-comparison"))
    return analysis(tables, drawn)


def _claims() -> list[Claim]:
    claims = []
    for key, (title, study) in MAZES.items():
        where = "Figures 8 and 14" if key == "passive" else "Figures 9 and 15"
        claims += [
            Claim(
                f"fixed-{key}-oracle",
                f"With PPO in the {title} of fixed length, AS(2) soon earns what FS(k*) earns.",
                where,
                all_of(
                    [near("auc_return", *p) for p in study.pairs("AS(κ)", "FS(k*)")],
                    "at every length at least 90% of FS(k*)'s return over the training",
                ),
            ),
            Claim(
                f"fixed-{key}-above",
                f"With PPO in the {title} of fixed length, AS(2) earns more than FS(2).",
                where,
                all_of(
                    [above("auc_return", *p) for p in study.pairs("AS(κ)", "FS(κ)", LONGER)],
                    "at lengths 3 to 6 the difference's 95% interval is above 0",
                ),
            ),
        ]
    return claims


CLAIMS = tuple(_claims())
