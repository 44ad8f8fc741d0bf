"""kappa, k* and the value gap, exactly."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.minimal_memory.analysis import CLAIMS, analyse
from adastack.lab.experiments.minimal_memory.sweep import sweep

EXPERIMENT = Experiment(
    name="minimal-memory",
    title="How many slots are enough, and what a stack is worth",
    where="Figure 7",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
