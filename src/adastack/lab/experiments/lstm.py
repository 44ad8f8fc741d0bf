"""PPO with an LSTM over the slots, in mazes of growing length."""

from __future__ import annotations

from adastack.lab.experiment import Experiment
from adastack.lab.experiments.length_scaling import above_claim, oracle_claim, show, study_of

STUDY = study_of("lstm", batch=1)
WHERE = "Figures 10 and 17"
CLAIMS = (
    above_claim(STUDY, "lstm", "an LSTM", WHERE),
    oracle_claim(STUDY, "lstm", "an LSTM", WHERE),
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs, analyse=lambda results: show(results, STUDY, "LSTM"), claims=CLAIMS
)
