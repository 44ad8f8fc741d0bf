"""Bars and curves of both mazes, and what the paper says of them."""

from __future__ import annotations

from adastack.lab.claims import about, alike, all_of, below, between, no_more
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.mazes import (
    both_mazes,
    earns_as_the_oracle,
    earns_more_than,
    show_mazes,
)
from adastack.lab.experiments.tabular.sweep import ACTIVE, LENGTHS, PASSIVE
from adastack.lab.results import Results

LONGER = [str(n) for n in LENGTHS[1:]]
COMPARED = ("AS(κ)", "FS(κ)", "FS(k*)")
MAZES = both_mazes(PASSIVE, ACTIVE)


def analyse(results: Results) -> Analysis:
    """Four metrics over the length, and the reward over time."""
    return show_mazes(results, MAZES, "Continual {} with Q-learning")


def _claims() -> list[Claim]:
    claims = []
    for key, (title, study) in MAZES.items():
        panel = "Figure 4a" if key == "passive" else "Figure 4b"
        claims += [
            Claim(
                f"tabular-{key}-oracle",
                f"In the continual {title}, AS(2) earns what the oracle FS(k*) earns.",
                panel,
                earns_as_the_oracle(study),
            ),
            Claim(
                f"tabular-{key}-above",
                f"In the continual {title}, AS(2) earns more than FS(2) once the maze is longer "
                "than the stack.",
                panel,
                earns_more_than(study, "FS(κ)"),
            ),
            Claim(
                f"tabular-{key}-passive-regret",
                f"In the continual {title}, AS(2) drops a cue it holds less often than FS(2).",
                "Section 5, continual TMaze; " + panel,
                all_of(
                    [
                        below("auc_passive_regret", *pair)
                        for pair in study.pairs("AS(κ)", "FS(κ)", LONGER)
                    ],
                    "at lengths 3 to 6 passive regret is lower, 95% interval",
                ),
            ),
        ]
    return claims


CLAIMS = (
    *_claims(),
    Claim(
        "tabular-length-2",
        "At length 2, where two slots are all there is to remember, all memories do alike.",
        "Section 5, continual TMaze",
        all_of(
            [
                about(title, alike("auc_reward", [study.arm("2", label) for label in COMPARED]))
                for title, study in MAZES.values()
            ],
            "rewards within 5% of the best, in both mazes",
        ),
    ),
    Claim(
        "tabular-oracle-regret",
        "Even the oracle FS(k*) lacks the cue at every respawn, so its memory regret is not 0.",
        "Section 5, continual TMaze",
        all_of(
            [between("auc_memory_regret", PASSIVE.arm(str(n), "FS(k*)"), 0.9 / n) for n in LENGTHS],
            "in the Passive-TMaze at least 0.9 of one step in each attempt",
        ),
    ),
    Claim(
        "tabular-memory-use",
        "AS(2) matches the oracle FS(k*) in memory use, too.",
        "Figure 4, caption",
        all_of(
            [
                about(title, no_more("auc_memory_regret", *pair, slack=0.05))
                for title, study in MAZES.values()
                for pair in study.pairs("AS(κ)", "FS(k*)")
            ],
            "in both mazes, at every length, memory regret at most 10% or 0.05 above FS(k*)'s",
        ),
    ),
)
