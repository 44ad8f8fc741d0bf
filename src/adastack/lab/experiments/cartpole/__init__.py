"""CartPole with only its speeds in view."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.cartpole.analysis import CLAIMS, analyse
from adastack.lab.experiments.cartpole.sweep import sweep

EXPERIMENT = Experiment(
    name="cartpole",
    title="CartPole with only its speeds in view",
    where="Figure 19",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
