"""Trained at one length, tested at others: the policies of five other experiments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adastack.lab.checks import above, below, between, given
from adastack.lab.claims import Check, Claim, Test, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.experiments import fixed_length, length_scaling, lstm, tabular, transformer
from adastack.lab.results import Results
from adastack.lab.studies.grids import grid_figure, tested
from adastack.lab.studies.study import Study, sweep_of, tmaze
from adastack.lab.studies.study_figures import analysis
from adastack.tasks.spec import parse_spec

LEARNED = 0.9
"""The success from which on something has been learned."""


def _tested(study: Study) -> Study:
    """The study with every policy of the usual seeds tested at each of its lengths."""
    tests = [point.task.replace(",random_length=true", "") for point in study.points]
    usual = tuple(
        replace(point, memories=tuple(replace(memory, seeds=None) for memory in point.memories))
        for point in study.points
    )
    return tested(replace(study, points=usual), tests, smoke=tests[:2])


PARTS = {
    **{
        f"q-{maze.kind}": (f"Continual {maze.title}, Q-learning", maze.study)
        for maze in tabular.MAZES
    },
    **{
        f"ppo-{maze.key}": (fixed_length.WHAT.format(maze.title), maze.study)
        for maze in fixed_length.MAZES
    },
    "mlp": (f"{length_scaling.WHAT} with an MLP", length_scaling.STUDY),
    "lstm": (f"{length_scaling.WHAT} with an LSTM", lstm.STUDY),
    "transformer": (f"{length_scaling.WHAT} with a Transformer", transformer.STUDY),
}
STUDIES = {key: _tested(study) for key, (_, study) in PARTS.items()}


def analyse(results: Results) -> Analysis:
    """For each study heat maps of optimality and abstraction, trained by tested length."""
    drawn = []
    for key, study in STUDIES.items():
        trained = study.axis.replace("maze", "trained")
        for metric in ("optimality", "abstraction"):
            caption = f"{PARTS[key][0]}: {metric}, mean and standard deviation over seeds."
            drawn.append(grid_figure(results, study, metric, f"{key}-{metric}", caption, trained))
    return analysis([], drawn)


def _length(test: str) -> int:
    return int(parse_spec(test).options["length"])


def _beyond(study: Study, shortest: int) -> Iterable[tuple[str, str]]:
    """Trained lengths and longer lengths to test at."""
    for point in study.points:
        for test in point.tests:
            if shortest <= int(point.name) < _length(test):
                yield point.name, test


def _better(key: str, shortest: int, other: str = "FS(k*)") -> Test:
    """Whether AS(2) does better than another memory at every length beyond the trained one.

    Where no seed of AS(2) has learned the trained one, nothing can be generalised.
    """
    study = STUDIES[key]
    return all_of(
        [
            given(above("optimality", *pair), study.arm(name, "AS(κ)"), "success", LEARNED)
            for name, test in _beyond(study, shortest)
            for pair in study.pairs("AS(κ)", other, [name], test)
        ],
        f"at every longer length, from {shortest} on, 95% interval above 0",
    )


def _good(key: str, label: str) -> Test:
    """Whether a memory does well at every length beyond the trained one."""
    study = STUDIES[key]
    return all_of(
        [
            between("optimality", study.arm(name, label, test), low=0.9)
            for name, test in _beyond(study, 4)
        ],
        "mean optimality of at least 0.9 at every longer length, from 4 on",
    )


def _within() -> list[Check]:
    study = STUDIES["mlp"]
    return [
        between("optimality", study.arm(point.name, "FS(k*)", test), low=0.9)
        for point in study.points
        for test in point.tests
        if _length(test) <= int(point.name)
    ]


CLAIMS = (
    Claim(
        "generalisation-q-passive",
        "With Q-learning in the Passive-TMaze, AS(2) does better than FS(k*) at lengths beyond "
        "the one it was trained on.",
        "Figure 20",
        _better("q-passive", 3),
    ),
    Claim(
        "generalisation-q-passive-frame",
        "With Q-learning in the Passive-TMaze, AS(2) does better than FS(2) at lengths beyond "
        "the one it was trained on.",
        "Figure 20",
        _better("q-passive", 3, "FS(κ)"),
    ),
    Claim(
        "generalisation-q-active",
        "With Q-learning in the Active-TMaze, AS(2) does better than FS(k*) beyond the trained "
        "length, if it learned to reach the right goals there.",
        "Figure 21",
        all_of(
            [
                above("optimality", *pair)
                for n in (4, 5, 6)
                for test in [tmaze("active", n, continual=True)]
                for pair in STUDIES["q-active"].pairs("AS(κ)", "FS(k*)", ["3"], test)
            ],
            "trained at length 3, tested at 4, 5 and 6, 95% interval above 0",
        ),
    ),
    Claim(
        "generalisation-ppo-passive",
        "With PPO on mazes of fixed length, AS(2) does better than FS(k*) at longer ones.",
        "Figure 22",
        _better("ppo-passive", 3),
    ),
    Claim(
        "generalisation-ppo-active",
        "With PPO on Active-TMazes of fixed length, AS(2) does better than FS(k*) at longer "
        "ones, but from length 2.",
        "Figure 23",
        _better("ppo-active", 3),
        reading=fixed_length.READINGS["active"],
    ),
    Claim(
        "generalisation-ppo-active-short",
        "With PPO on Active-TMazes of fixed length, cut after length + 2 steps, AS(2) does better "
        "than FS(k*) at longer ones, but from length 2.",
        "Figure 23",
        _better("ppo-active-short", 3),
        reading=fixed_length.READINGS["active-short"],
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
        _better("mlp", 4),
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
        "With a Transformer, AS(2) does better than FS(k*) beyond the trained lengths, as with "
        "an MLP.",
        "Figure 26",
        _better("transformer", 4),
    ),
    Claim(
        "generalisation-abstraction",
        "AS(2) holds far fewer different stacks than FS(k*).",
        "Figure 24",
        all_of(
            [
                below("abstraction", *pair)
                for pair in STUDIES["mlp"].pairs(
                    "AS(κ)", "FS(k*)", ["8", "16", "64"], tmaze("passive", 64)
                )
            ],
            "tested at length 64, trained at 8, 16 and 64, 95% interval",
        ),
    ),
)
EXPERIMENT = Experiment(sweep=sweep_of(STUDIES.values()), analyse=analyse, claims=CLAIMS)
