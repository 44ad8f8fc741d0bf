"""The cube with one face in view."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.cube.analysis import CLAIMS, analyse
from adastack.lab.experiments.cube.sweep import sweep

EXPERIMENT = Experiment(
    name="cube",
    title="The 2x2x2 cube, one face in view",
    where="Figure 6c",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
