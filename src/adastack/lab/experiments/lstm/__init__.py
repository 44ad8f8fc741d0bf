"""PPO with an LSTM in mazes of growing length."""

from adastack.lab.experiment import Experiment
from adastack.lab.experiments import read_page
from adastack.lab.experiments.lstm.analysis import CLAIMS, analyse
from adastack.lab.experiments.lstm.sweep import sweep

EXPERIMENT = Experiment(
    name="lstm",
    title="PPO with an LSTM: the maze grows",
    where="Figures 10 and 17",
    sweep=sweep,
    analyse=analyse,
    claims=CLAIMS,
    page=read_page(__name__),
)
