"""CartPole with only its speeds, or noisy positions, in view: AS(2) and FS(2)."""

from __future__ import annotations

from adastack.lab.checks import near
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.results import Results
from adastack.lab.studies.study import Memory, sweep_of
from adastack.lab.studies.study_figures import together
from adastack.lab.studies.worlds import show_world, world_study

TASKS = {
    "": "velocity-only-cartpole",
    "action": "velocity-only-cartpole:previous_action=true",
    "noisy": "position-only-cartpole:time_limit=200,noise=0.3,previous_action=true",
}
"""As the paper says; as the authors' code has it, with the previous action; and with noise."""
WHAT = {
    "": "CartPole with only its speeds in view",
    "action": "CartPole with its speeds and the previous action in view",
    "noisy": "CartPole with noisy positions and the previous action in view",
}
METRICS = {"auc_return": "Return over the training", "return": "Return after training, greedy"}
STUDIES = {
    key: world_study(
        task,
        (Memory("AS(κ)", "adaptive", 2), Memory("FS(k*)", "frame", 2)),
        (task,),
        greedy=False,
        metrics=METRICS,
        smoke=not key,
    )
    for key, task in TASKS.items()
}


def analyse(results: Results) -> Analysis:
    """Each of the three, one after the other."""
    return together(
        [
            show_world(
                results, study, f"{WHAT[key]}, PPO with an MLP; a perfect return is 1", key=key
            )
            for key, study in STUDIES.items()
        ]
    )


CLAIMS = tuple(
    Claim(
        f"cartpole-close-{key}" if key else "cartpole-close",
        f"In {WHAT[key]}, where two slots are said to be enough, AS(2) comes close to FS(2).",
        "Figure 19",
        all_of(
            [near("auc_return", *pair, share=0.2) for pair in study.pairs("AS(κ)", "FS(k*)")],
            "at least 80% of FS(2)'s return over the training",
        ),
    )
    for key, study in STUDIES.items()
)
EXPERIMENT = Experiment(sweep=sweep_of(STUDIES.values()), analyse=analyse, claims=CLAIMS)
