"""PPO with a Transformer in mazes of growing length."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.transformer.analysis import CLAIMS, analyse
from adastack.lab.experiments.transformer.sweep import sweep

EXPERIMENT = Experiment(
    name="transformer",
    title="PPO with a Transformer: the maze grows",
    where="Figures 11 and 18",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
