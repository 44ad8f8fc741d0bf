"""FetchReach with a goal that must be remembered."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.fetch.analysis import CLAIMS, analyse
from adastack.lab.experiments.fetch.sweep import sweep

EXPERIMENT = Experiment(
    name="fetch",
    title="FetchReach with hidden goal and speeds",
    where="Figures 6b and 29",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
