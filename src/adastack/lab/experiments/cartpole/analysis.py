"""Return while training."""

from __future__ import annotations

from adastack.lab.claims import all_of, near
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.cartpole.sweep import STUDY
from adastack.lab.experiments.worlds import show_world
from adastack.lab.results import Results

NAME = STUDY.points[0].name


def analyse(results: Results) -> Analysis:
    """Curves and bars."""
    what = "CartPole with only its speeds in view, PPO with an MLP; a perfect return is 1"
    return show_world(results, STUDY, what)


CLAIMS = (
    Claim(
        "cartpole-close",
        "Where the last two observations are all that is needed, AS(2) comes close to FS(2).",
        "Figure 19",
        all_of(
            [near("auc_return", STUDY.arm(NAME, "AS(κ)"), STUDY.arm(NAME, "FS(k*)"), share=0.2)],
            "at least 80% of FS(2)'s return over the training",
        ),
    ),
)
