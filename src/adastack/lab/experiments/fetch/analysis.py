"""Success while training, and with goals that stay longer or are seen for longer."""

from __future__ import annotations

from collections.abc import Iterable

from adastack.lab.claims import Check, above, all_of, between
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.fetch.sweep import MILLION, PERIODS, STUDIES, VISIBLE
from adastack.lab.experiments.study_figures import together
from adastack.lab.experiments.worlds import show_world
from adastack.lab.results import Results

TESTS = {"The goal stays longer": PERIODS, "The goal is seen for longer": VISIBLE}
LONGER = PERIODS[2:]
MLP = STUDIES["MLP"]


def analyse(results: Results) -> Analysis:
    """For each network curves, bars and the tests."""
    shown = []
    for name, study in STUDIES.items():
        what = f"FetchReach, a new goal every 50 steps that is shown twice, PPO with {name}"
        shown.append(show_world(results, study, what, tests=TESTS, key=name.lower()))
    return together(shown)


def _apart(metric: str, nets: Iterable[str], others: Iterable[str], *tests: str) -> list[Check]:
    """Whether AS(4) is above other memories, after training or in tests."""
    return [
        above(metric, STUDIES[net].arm(net, "AS(κ)", test), STUDIES[net].arm(net, other, test))
        for net in nets
        for other in others
        for test in tests or (None,)
    ]


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
        all_of(
            _apart("success", ["MLP"], ["FS(κ)"]),
            "after training, with an MLP, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-oracle",
        "AS(4) succeeds even more often than the oracle FS(50), which learns from full histories.",
        "Figure 6b",
        all_of(
            _apart("success", ["MLP"], ["FS(k*)"]),
            "after training, with an MLP, 95% interval above 0",
        ),
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
            _apart("success", ["MLP"], ["FS(κ)", "FS(k*)"], *LONGER),
            "with an MLP and goals that stay for 100 to 5000 steps, 95% interval above 0",
        ),
    ),
    Claim(
        "fetch-keeps",
        "AS(4), trained to remember a goal for 50 steps, still has it when it never changes.",
        "Section 5, other domains; Figure 29",
        all_of(
            [between("success", MLP.arm("MLP", "AS(κ)", MILLION), low=0.9)],
            "with an MLP, a mean success of at least 0.9 when the goal stays for 10^6 steps",
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
