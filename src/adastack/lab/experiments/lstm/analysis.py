"""Bars and curves, as for the MLP."""

from __future__ import annotations

from adastack.lab.experiment import Analysis
from adastack.lab.experiments.length_scaling.analysis import above_claim, oracle_claim, show
from adastack.lab.experiments.lstm.sweep import STUDY
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """The four metrics and the return over time."""
    return show(results, STUDY, "LSTM")


CLAIMS = tuple(
    claim(STUDY, "lstm", "an LSTM", "Figures 10 and 17") for claim in (above_claim, oracle_claim)
)
