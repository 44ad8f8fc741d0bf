"""The XorMaze with Q-learning."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.xormaze.analysis import CLAIMS, analyse
from adastack.lab.experiments.xormaze.sweep import sweep

EXPERIMENT = Experiment(
    name="xormaze",
    title="Two cues to remember: the XorMaze",
    where="Figures 6a and 31",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
