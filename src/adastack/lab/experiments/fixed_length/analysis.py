"""Bars and curves of both mazes."""

from __future__ import annotations

from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.fixed_length.sweep import ACTIVE, PASSIVE
from adastack.lab.experiments.mazes import (
    both_mazes,
    earns_as_the_oracle,
    earns_more_than,
    show_mazes,
)
from adastack.lab.results import Results

MAZES = both_mazes(PASSIVE, ACTIVE)


def analyse(results: Results) -> Analysis:
    """Four metrics over the length, and the return over time."""
    return show_mazes(results, MAZES, "Episodic {} of fixed length, PPO with an MLP")


def _claims() -> list[Claim]:
    claims = []
    for key, (title, study) in MAZES.items():
        where = "Figures 8 and 14" if key == "passive" else "Figures 9 and 15"
        claims += [
            Claim(
                f"fixed-{key}-oracle",
                f"With PPO in the {title} of fixed length, AS(2) soon earns what FS(k*) earns.",
                where,
                earns_as_the_oracle(study),
            ),
            Claim(
                f"fixed-{key}-above",
                f"With PPO in the {title} of fixed length, AS(2) earns more than FS(2).",
                where,
                earns_more_than(study, "FS(κ)"),
            ),
        ]
    return claims


CLAIMS = tuple(_claims())
