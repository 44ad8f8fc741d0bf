"""PPO in mazes of fixed length."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.fixed_length.analysis import CLAIMS, analyse
from adastack.lab.experiments.fixed_length.sweep import sweep

EXPERIMENT = Experiment(
    name="fixed-length",
    title="PPO with an MLP: mazes of fixed length, passive and active",
    where="Figures 8, 9, 14 and 15",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
