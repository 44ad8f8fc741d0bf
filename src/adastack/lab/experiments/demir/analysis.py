"""Bars and curves of both mazes."""

from __future__ import annotations

from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.demir.sweep import ACTIVE, PASSIVE
from adastack.lab.experiments.mazes import both_mazes, earns_more_than, show_mazes
from adastack.lab.results import Results

MAZES = both_mazes(PASSIVE, ACTIVE)


def analyse(results: Results) -> Analysis:
    """Four metrics over the length, and the reward over time."""
    return show_mazes(results, MAZES, "Continual {} with Q-learning")


CLAIMS = tuple(
    Claim(
        f"demir-{key}{'-bonus' if 'IM' in other else ''}",
        f"In the continual {title}, AS(2) earns more than Demir's push/skip"
        + (" with its bonus for rare observations." if "IM" in other else "."),
        "Figure 30",
        earns_more_than(study, other),
    )
    for key, (title, study) in MAZES.items()
    for other in ("Demir(κ)", "Demir(κ) + IM")
)
