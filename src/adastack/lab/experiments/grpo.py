"""GRPO, which has no critic, with stacks of growing size."""

from __future__ import annotations

from adastack.lab.experiment import Experiment
from adastack.lab.experiments.memory_scaling import claims_of, show, study_of

STUDY = study_of("grpo")
EXPERIMENT = Experiment(
    sweep=STUDY.jobs,
    analyse=lambda results: show(results, STUDY, "GRPO with an MLP"),
    claims=claims_of(STUDY, "grpo", "GRPO", "Figure 28"),
)
