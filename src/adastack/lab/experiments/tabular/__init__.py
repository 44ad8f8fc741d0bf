"""Continual TMazes with Q-learning."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.tabular.analysis import CLAIMS, analyse
from adastack.lab.experiments.tabular.sweep import sweep

EXPERIMENT = Experiment(
    name="tabular",
    title="Continual TMazes with Q-learning",
    where="Figures 4, 12 and 13",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
