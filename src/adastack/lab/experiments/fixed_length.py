"""PPO in episodic mazes of length 2 to 6, passive and active: AS(2), FS(2) and FS(k*).

The active ones are cut after 100 steps, as the paper's table says, and after length + 2, as the
authors' code does.
"""

from __future__ import annotations

from dataclasses import replace

from adastack.lab.claims import Claim
from adastack.lab.experiment import Experiment
from adastack.lab.studies import mazes
from adastack.lab.studies.study import Point, Study, lengths, smoke_points, sweep_of, tmaze

LENGTHS = (2, 3, 4, 5, 6)
READINGS = {
    "passive": "",
    "active": "episodes of at most 100 steps, as in Table 2",
    "active-short": "episodes of at most length + 2 steps, as in the authors' code",
}


def _study(kind: str) -> Study:
    return Study("maze length", lengths(kind, LENGTHS), smoke=smoke_points(lengths(kind, (3,))))


def _cut(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The same mazes, with as much time as in the authors' code."""
    return tuple(
        replace(point, task=tmaze("active", n, time_limit=n + 2))
        for point in points
        for n in [int(point.name)]
    )


def _short(study: Study) -> Study:
    return replace(study, points=_cut(study.points), smoke=_cut(study.smoke))


def _claims(maze: mazes.Maze) -> tuple[Claim, ...]:
    place = f"With PPO in the {maze.title} of fixed length, AS(2)"
    study, reading = maze.study, READINGS[maze.key]
    tests = {
        "oracle": ("earns what FS(k*) earns", mazes.earns_as_the_oracle(study)),
        "quickly": ("quickly matches FS(k*)", mazes.learns_quickly(study)),
        "above": ("earns more than FS(2)", mazes.earns_more_than(study, "FS(κ)")),
    }
    return tuple(
        Claim(f"fixed-{maze.key}-{name}", f"{place} {does}.", maze.where, test, reading=reading)
        for name, (does, test) in tests.items()
    )


PASSIVE, ACTIVE = mazes.both_mazes(_study, "Figures 8 and 14", "Figures 9 and 15")
SHORT = replace(
    ACTIVE,
    study=_short(ACTIVE.study),
    variant="short",
    words=", cut after length + 2 steps,",
)
MAZES = (PASSIVE, ACTIVE, SHORT)
WHAT = "Episodic {} of fixed length, PPO with an MLP"
EXPERIMENT = Experiment(
    sweep=sweep_of(maze.study for maze in MAZES),
    analyse=lambda results: mazes.show_mazes(results, MAZES, WHAT),
    claims=tuple(claim for maze in MAZES for claim in _claims(maze)),
)
