"""As for PPO."""

from __future__ import annotations

from adastack.lab.experiment import Analysis
from adastack.lab.experiments.grpo.sweep import STUDY
from adastack.lab.experiments.memory_scaling.analysis import claims_of, show
from adastack.lab.results import Results


def analyse(results: Results) -> Analysis:
    """The scaling and the heat maps."""
    return show(results, STUDY, "GRPO with an MLP")


CLAIMS = claims_of(STUDY, "grpo", "GRPO", "Figure 28")
