"""The tabular study with Demir's push/skip memory beside it, with and without its bonus."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.claims import Claim
from adastack.lab.experiment import Experiment
from adastack.lab.experiments import tabular
from adastack.lab.studies.mazes import Maze, earns_more_than, show_mazes
from adastack.lab.studies.study import Memory, Point, sweep_of

BONUS = {"intrinsic": "rare", "intrinsic_weight": 1.0}
"""The authors' formula, and their weight."""
SHOWN = "a skip drops the observation before, as in the authors' code"
HIDDEN = "a skip does nothing, as the paper says: the next observation is not shown"
WORDS = {
    "Demir(κ)": ("", ".", SHOWN),
    "Demir(κ) + IM": ("-bonus", " with its bonus for rare observations.", SHOWN),
    "Demir(κ), unseen": ("-unseen", ", if a skipped observation is not shown.", HIDDEN),
    "Demir(κ), unseen + IM": (
        "-unseen-bonus",
        " with its bonus, if a skipped observation is not shown.",
        HIDDEN,
    ),
}
SAME = (
    "With two slots push and skip are the two choices of AS(2): drop the old one, or the current "
    "one. If a skipped observation is not shown, the agent cannot see the junction, and the "
    "comparison is the paper's."
)
LABELS = tuple(WORDS)


def demir(size: int) -> tuple[Memory, ...]:
    """Both readings of skip, each with and without the bonus."""
    return (
        Memory("Demir(κ)", "push_skip", size),
        Memory("Demir(κ) + IM", "push_skip", size, BONUS),
        Memory("Demir(κ), unseen", "push_skip_unseen", size),
        Memory("Demir(κ), unseen + IM", "push_skip_unseen", size, BONUS),
    )


def _with_demir(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return tuple(
        replace(point, memories=(*(m for m in point.memories if m != tabular.ROBUST), *demir(2)))
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
            reading=reading,
            why=SAME if suffix == "" else "",
        )
        for maze in MAZES
        for other, (suffix, words, reading) in WORDS.items()
    ),
)
