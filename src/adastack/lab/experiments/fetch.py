"""FetchReach with hidden goal and speeds: AS(4), FS(4), FS(50), goals that stay or hide longer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adastack.lab.checks import above, between, near
from adastack.lab.claims import Check, Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.job import Evaluation
from adastack.lab.results import Results
from adastack.lab.studies.study import FETCH_SEEDS, NETS, Memory, sweep_of
from adastack.lab.studies.study_figures import together
from adastack.lab.studies.worlds import REMEMBERED, show_world, world_study

TASK = "fetch-reach"
PERIODS = tuple(f"{TASK}:goal_period={n}" for n in (25, 50, 100, 200, 500, 1000, 5000))
VISIBLE = tuple(f"{TASK}:visible_steps={n}" for n in (1, 2, 5, 10, 25, 50))
MILLION = f"{TASK}:goal_period=1000000"
TESTS = {"The goal stays longer": PERIODS, "The goal is seen for longer": VISIBLE}
ADAPTIVE = Memory("AS(κ)", "adaptive", 4)
FRAMES = (Memory("FS(κ)", "frame", 4), Memory("FS(k*)", "frame", 50))
# A million steps of a robot arm take minutes: one attempt, only where it can succeed, and only with
# the network whose steps cost next to nothing.
TO_THE_END = replace(ADAPTIVE, tests=(Evaluation(MILLION, episodes=1),))
FEW = 3
"""Seeds of the networks that take hours."""
STUDIES = {
    name: world_study(
        TASK,
        (TO_THE_END if net is None else ADAPTIVE, *FRAMES),
        (*PERIODS, *VISIBLE),
        name=name,
        net=net,
        metrics={**REMEMBERED, "auc_return": "Sum of rewards for a goal"},
        seeds=FETCH_SEEDS if net is None else FEW,
        episodes=16,
        smoke=net is None,
        smoke_steps=2048,
    )
    for name, net in NETS.items()
}


def analyse(results: Results) -> Analysis:
    """For each network curves, bars and the tests."""
    what = "FetchReach, a new goal every 50 steps that is shown twice, PPO with"
    return together(
        [
            show_world(results, study, f"{what} {name}", tests=TESTS, key=name.lower())
            for name, study in STUDIES.items()
        ]
    )


def _apart(metric: str, nets: Iterable[str], others: Iterable[str], *tests: str) -> list[Check]:
    """Whether AS(4) is above other memories, after training or in tests."""
    return [
        above(metric, *pair)
        for net in nets
        for other in others
        for test in tests or (None,)
        for pair in STUDIES[net].pairs("AS(κ)", other, tested=test)
    ]


MLP_AFTER = "after training, with an MLP, 95% interval above 0"
CLAIMS = (
    Claim(
        "fetch-training",
        "AS(4) succeeds more often than FS(4) while training.",
        "Section 5, other domains; Figure 6b",
        all_of(
            _apart("auc_success", ["MLP"], ["FS(κ)"]),
            "over the training, with an MLP, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-above",
        "AS(4) succeeds more often than FS(4).",
        "Figure 6b",
        all_of(_apart("success", ["MLP"], ["FS(κ)"]), MLP_AFTER),
    ),
    Claim(
        "fetch-oracle",
        "AS(4) succeeds even more often than the oracle FS(50), which learns from full histories.",
        "Figure 6b",
        all_of(_apart("success", ["MLP"], ["FS(k*)"]), MLP_AFTER),
    ),
    Claim(
        "fetch-networks",
        "AS(4) succeeds more often than FS(4) and FS(50), whatever the network.",
        "Figure 29",
        all_of(
            _apart("success", STUDIES, ["FS(κ)", "FS(k*)"]),
            "after training, with MLP, LSTM and Transformer, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-longer",
        "AS(4) succeeds more often than FS(4) and FS(50) when goals stay longer than in training.",
        "Figure 29, left",
        all_of(
            _apart("success", ["MLP"], ["FS(κ)", "FS(k*)"], *PERIODS[2:]),
            "with an MLP and goals that stay for 100 to 5000 steps, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-keeps",
        "AS(4), trained to remember a goal for 50 steps, still has it when it never changes.",
        "Section 5, other domains; Figure 29",
        all_of(
            [between("success", STUDIES["MLP"].arm("MLP", "AS(κ)", MILLION), low=0.9)],
            "with an MLP, a mean success of at least 0.9 when the goal stays for 10^6 steps",
        ),
    ),
    Claim(
        "fetch-extreme",
        "What AS(4) has learned holds under extreme shifts: goals that are seen for 1 or 50 steps.",
        "Figure 29, caption",
        all_of(
            [
                near(
                    "success",
                    STUDIES["MLP"].arm("MLP", "AS(κ)", test),
                    STUDIES["MLP"].arm("MLP", "AS(κ)"),
                )
                for test in (VISIBLE[0], VISIBLE[-1])
            ],
            "with an MLP, at least 90% of the success with goals that are seen for 2 steps",
        ),
    ),
    Claim(
        "fetch-forgets",
        "FS(50) fails when the goal never changes, with every network.",
        "Section 5, other domains; Figure 29",
        all_of(
            [
                between("success", study.arm(name, "FS(k*)", PERIODS[-1]), high=0.2)
                for name, study in STUDIES.items()
            ],
            "a mean success of at most 0.2 with MLP, LSTM and Transformer after 5000 steps",
        ),
    ),
)
EXPERIMENT = Experiment(sweep=sweep_of(STUDIES.values()), analyse=analyse, claims=CLAIMS)
