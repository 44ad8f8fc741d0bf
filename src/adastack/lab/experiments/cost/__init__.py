"""Operations and bytes of each network with each memory."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.cost.analysis import CLAIMS, analyse
from adastack.lab.experiments.cost.sweep import sweep

EXPERIMENT = Experiment(
    name="cost",
    title="What a stack costs",
    where="Table 1",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
