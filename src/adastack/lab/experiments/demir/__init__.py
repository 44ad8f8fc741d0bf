"""Demir's push/skip memory in the continual mazes."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.demir.analysis import CLAIMS, analyse
from adastack.lab.experiments.demir.sweep import sweep

EXPERIMENT = Experiment(
    name="demir",
    title="Push and skip: Demir's memory in the continual TMazes",
    where="Figure 30",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
