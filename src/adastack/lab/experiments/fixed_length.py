"""PPO in episodic mazes of length 2 to 6, passive and active: AS(2), FS(2) and FS(k*)."""

from __future__ import annotations

from adastack.lab.claims import Claim
from adastack.lab.experiment import Experiment
from adastack.lab.studies.mazes import (
    Maze,
    both_mazes,
    earns_as_the_oracle,
    earns_more_than,
    show_mazes,
)
from adastack.lab.studies.study import Study, lengths, smoke_points, sweep_of


def _study(kind: str) -> Study:
    points = lengths(kind, (2, 3, 4, 5, 6))
    return Study("maze length", points, smoke=smoke_points(lengths(kind, (3,))))


def _claims(maze: Maze) -> tuple[Claim, ...]:
    place = f"With PPO in the {maze.title} of fixed length, AS(2)"
    oracle, frame = earns_as_the_oracle(maze.study), earns_more_than(maze.study, "FS(κ)")
    name = f"fixed-{maze.kind}"
    return (
        Claim(f"{name}-oracle", f"{place} soon earns what FS(k*) earns.", maze.where, oracle),
        Claim(f"{name}-above", f"{place} earns more than FS(2).", maze.where, frame),
    )


MAZES = both_mazes(_study, "Figures 8 and 14", "Figures 9 and 15")
WHAT = "Episodic {} of fixed length, PPO with an MLP"
EXPERIMENT = Experiment(
    sweep=sweep_of(maze.study for maze in MAZES),
    analyse=lambda results: show_mazes(results, MAZES, WHAT),
    claims=tuple(claim for maze in MAZES for claim in _claims(maze)),
)
