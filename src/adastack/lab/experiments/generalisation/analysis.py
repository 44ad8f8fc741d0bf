"""Heat maps of optimality and abstraction, trained by tested length."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adastack.lab.claims import Check, above, all_of, below, between
from adastack.lab.experiment import Analysis, Claim, Verdict
from adastack.lab.experiments.generalisation.sweep import PARTS
from adastack.lab.experiments.grids import grid_figure
from adastack.lab.experiments.study import Study, tmaze
from adastack.lab.experiments.study_figures import analysis
from adastack.lab.results import Results
from adastack.tasks.registry import split_spec


def analyse(results: Results) -> Analysis:
    """Two rows of heat maps for each part."""
    drawn = []
    for key, part in PARTS.items():
        trained = part.study.axis.replace("maze", "trained")
        for metric in ("optimality", "abstraction"):
            caption = f"{part.title}: {metric}, mean and standard deviation over seeds."
            name = f"{key}-{metric}"
            drawn.append(grid_figure(results, part.study, metric, name, caption, trained))
    return analysis([], drawn)


def _beyond(study: Study, shortest: int) -> Iterable[tuple[str, str]]:
    """Trained lengths and longer lengths to test at."""
    for point in study.points:
        for test in point.tests:
            length = int(split_spec(test)[1]["length"])
            if shortest <= int(point.name) < length:
                yield point.name, test


def _better(key: str, shortest: int, other: str = "FS(k*)") -> list[Check]:
    study = PARTS[key].study
    return [
        above("optimality", study.arm(name, "AS(κ)", test), study.arm(name, other, test))
        for name, test in _beyond(study, shortest)
    ]


def _good(key: str, label: str) -> Callable[[Results], Verdict]:
    """Whether a memory does well at every length beyond the trained one."""
    study = PARTS[key].study
    return all_of(
        [
            between("optimality", study.arm(name, label, test), low=0.9)
            for name, test in _beyond(study, 4)
        ],
        "mean optimality of at least 0.9 at every longer length, from 4 on",
    )


def _within() -> list[Check]:
    study = PARTS["mlp"].study
    return [
        between("optimality", study.arm(point.name, "FS(k*)", test), low=0.9)
        for point in study.points
        for test in point.tests
        if int(split_spec(test)[1]["length"]) <= int(point.name)
    ]


MLP = PARTS["mlp"].study
LONG = tmaze("passive", 64)
CLAIMS = (
    Claim(
        "generalisation-q-passive",
        "With Q-learning in the Passive-TMaze, AS(2) does better than FS(k*) at lengths beyond "
        "the one it was trained on.",
        "Figure 20",
        all_of(_better("q-passive", 3), "at every longer length, from 3 on, 95% interval above 0"),
    ),
    Claim(
        "generalisation-q-passive-frame",
        "With Q-learning in the Passive-TMaze, AS(2) does better than FS(2) at lengths beyond the "
        "one it was trained on.",
        "Figure 20",
        all_of(
            _better("q-passive", 3, "FS(κ)"),
            "at every longer length, from 3 on, 95% interval above 0",
        ),
    ),
    Claim(
        "generalisation-q-active",
        "With Q-learning in the Active-TMaze, AS(2) does better than FS(k*) beyond the trained "
        "length, if it learned to reach the right goals there.",
        "Figure 21",
        all_of(
            [
                above(
                    "optimality",
                    PARTS["q-active"].study.arm("3", "AS(κ)", tmaze("active", n, continual=True)),
                    PARTS["q-active"].study.arm("3", "FS(k*)", tmaze("active", n, continual=True)),
                )
                for n in (4, 5, 6)
            ],
            "trained at length 3, tested at 4, 5 and 6, 95% interval above 0",
        ),
    ),
    Claim(
        "generalisation-ppo-passive",
        "With PPO on mazes of fixed length, AS(2) does better than FS(k*) at longer ones.",
        "Figure 22",
        all_of(
            _better("ppo-passive", 3), "at every longer length, from 3 on, 95% interval above 0"
        ),
    ),
    Claim(
        "generalisation-ppo-active",
        "With PPO on Active-TMazes of fixed length, AS(2) does better than FS(k*) at longer ones, "
        "but from length 2.",
        "Figure 23",
        all_of(_better("ppo-active", 3), "at every longer length, from 3 on, 95% interval above 0"),
    ),
    Claim(
        "generalisation-within",
        "Random corridors in training let even FS(k*) do well at all shorter lengths.",
        "Figure 24",
        all_of(_within(), "mean optimality of at least 0.9 at every length up to the trained one"),
    ),
    Claim(
        "generalisation-beyond",
        "Beyond the trained lengths AS(2) with an MLP does better than FS(k*).",
        "Figure 24",
        all_of(_better("mlp", 4), "at every longer length, from 4 on, 95% interval above 0"),
    ),
    Claim(
        "generalisation-lstm",
        "With an LSTM, FS(k*), too, does well beyond the trained lengths.",
        "Figure 25; Section 5",
        _good("lstm", "FS(k*)"),
    ),
    Claim(
        "generalisation-lstm-adaptive",
        "With an LSTM, AS(2) does well beyond the trained lengths.",
        "Figure 25; Section 5",
        _good("lstm", "AS(κ)"),
    ),
    Claim(
        "generalisation-transformer",
        "With a Transformer, AS(2) does better than FS(k*) beyond the trained lengths, as with an "
        "MLP.",
        "Figure 26",
        all_of(
            _better("transformer", 4), "at every longer length, from 4 on, 95% interval above 0"
        ),
    ),
    Claim(
        "generalisation-abstraction",
        "AS(2) holds far fewer different stacks than FS(k*).",
        "Figure 24",
        all_of(
            [
                below(
                    "abstraction",
                    MLP.arm(name, "AS(κ)", LONG),
                    MLP.arm(name, "FS(k*)", LONG),
                )
                for name in ("8", "16", "64")
            ],
            "tested at length 64, trained at 8, 16 and 64, 95% interval",
        ),
    ),
)
