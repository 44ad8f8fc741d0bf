"""What policies are worth in mazes of other lengths, and how many stacks they hold."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.generalisation.analysis import CLAIMS, analyse
from adastack.lab.experiments.generalisation.sweep import sweep

EXPERIMENT = Experiment(
    name="generalisation",
    title="Trained at one length, tested at others",
    where="Figures 20 to 26",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
