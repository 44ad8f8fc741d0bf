"""GRPO with stacks of growing size."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.grpo.analysis import CLAIMS, analyse
from adastack.lab.experiments.grpo.sweep import sweep

EXPERIMENT = Experiment(
    name="grpo",
    title="GRPO with an MLP: the stack grows",
    where="Figure 28",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
