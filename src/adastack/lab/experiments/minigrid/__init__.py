"""MiniGrid-Memory."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.minigrid.analysis import CLAIMS, analyse
from adastack.lab.experiments.minigrid.sweep import sweep

EXPERIMENT = Experiment(
    name="minigrid",
    title="MiniGrid-Memory",
    where="Figure 6d",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
