"""The tabular study with Demir's push/skip memory beside it, with and without its bonus."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.claims import Claim
from adastack.lab.experiment import Experiment
from adastack.lab.experiments import tabular
from adastack.lab.studies.mazes import Maze, earns_more_than, show_mazes
from adastack.lab.studies.study import DEMIR_SEEDS, Memory, Point, sweep_of

DEMIR = (
    Memory("Demir(κ)", "push_skip", 2, seeds=DEMIR_SEEDS),
    Memory("Demir(κ) + IM", "push_skip", 2, {"intrinsic": "rare"}, seeds=DEMIR_SEEDS),
)
BONUS = {
    "Demir(κ)": ("", "."),
    "Demir(κ) + IM": ("-bonus", " with its bonus for rare observations."),
}


def _with_demir(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return tuple(
        replace(point, memories=(*(m for m in point.memories if m != tabular.ROBUST), *DEMIR))
        for point in points
    )


def _maze(maze: Maze) -> Maze:
    study = maze.study
    study = replace(study, points=_with_demir(study.points), smoke=_with_demir(study.smoke))
    return replace(maze, study=study)


MAZES = tuple(_maze(maze) for maze in tabular.MAZES)
EXPERIMENT = Experiment(
    sweep=sweep_of(maze.study for maze in MAZES),
    analyse=lambda results: show_mazes(results, MAZES, "Continual {} with Q-learning"),
    claims=tuple(
        Claim(
            f"demir-{maze.kind}{suffix}",
            f"In the continual {maze.title}, AS(2) earns more than Demir's push/skip{words}",
            "Figure 30",
            earns_more_than(maze.study, other),
        )
        for maze in MAZES
        for other, (suffix, words) in BONUS.items()
    ),
)
