"""PPO with stacks of growing size."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.memory_scaling.analysis import CLAIMS, analyse
from adastack.lab.experiments.memory_scaling.sweep import sweep

EXPERIMENT = Experiment(
    name="memory-scaling",
    title="PPO with an MLP: the stack grows",
    where="Figures 5b and 27",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
