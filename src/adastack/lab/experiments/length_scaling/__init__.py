"""PPO in mazes of growing length."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.length_scaling.analysis import CLAIMS, analyse
from adastack.lab.experiments.length_scaling.sweep import sweep

EXPERIMENT = Experiment(
    name="length-scaling",
    title="PPO with an MLP: the maze grows",
    where="Figures 5a and 16",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
