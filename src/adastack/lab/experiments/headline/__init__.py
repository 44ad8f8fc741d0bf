"""Trained in a short maze, tested in a very long one."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.headline.analysis import CLAIMS, analyse
from adastack.lab.experiments.headline.sweep import sweep

EXPERIMENT = Experiment(
    name="headline",
    title="Trained at length 16, tested at a million",
    where="Figure 1, right",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
