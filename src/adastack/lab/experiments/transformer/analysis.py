"""Bars and curves, as for the MLP."""

from __future__ import annotations

from adastack.lab.claims import all_of, between, near
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.length_scaling.analysis import NAMES, above_claim, show
from adastack.lab.experiments.transformer.sweep import STUDY
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """The four metrics and the return over time."""
    return show(results, STUDY, "Transformer")


CLAIMS = (
    above_claim(STUDY, "transformer", "a Transformer", "Figures 11 and 18"),
    Claim(
        "transformer-oracle",
        "With a Transformer, AS(2) earns what FS(k*) earns in the shorter mazes.",
        "Figure 18",
        all_of(
            [near("auc_return", *p) for p in STUDY.pairs("AS(κ)", "FS(k*)", NAMES[:3])],
            "at maximum lengths 2, 4 and 8 at least 90% of FS(k*)'s return over the training",
        ),
    ),
    Claim(
        "transformer-struggles",
        "With a Transformer, AS(2) struggles to learn in the longest maze.",
        "Figure 18",
        all_of(
            [between("auc_return", STUDY.arm("64", "AS(κ)"), high=0.8)],
            "at maximum length 64 a return below 0.8 over the training",
        ),
    ),
)
