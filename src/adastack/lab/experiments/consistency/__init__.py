"""Value-consistency and Theorem 3, exactly."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.consistency.analysis import CLAIMS, analyse
from adastack.lab.experiments.consistency.sweep import sweep

EXPERIMENT = Experiment(
    name="consistency",
    title="Value-consistency and where TD-learning ends",
    where="Table 2, Theorem 3",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
