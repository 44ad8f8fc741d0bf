"""Bars and curves, as for the MLP."""

from __future__ import annotations

from adastack.lab.experiment import Analysis
from adastack.lab.experiments.length_scaling.analysis import above_and_near, shown
from adastack.lab.experiments.lstm.sweep import STUDY
from adastack.lab.experiments.shown import analysis
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """The four metrics and the return over time."""
    figures, tables = shown(results, STUDY, "LSTM")
    return analysis(tables, figures)


CLAIMS = above_and_near(STUDY, "lstm", "an LSTM", "Figures 10 and 17")
