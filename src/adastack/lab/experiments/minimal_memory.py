"""kappa with both memories, and the value gap, over maze lengths, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from adastack.lab import figures
from adastack.lab.checks import exactly, judged
from adastack.lab.claims import Check, Claim, Found, all_of
from adastack.lab.experiment import Analysis, Experiment, Figure, Scale, Table
from adastack.lab.figures import Panel
from adastack.lab.job import Job
from adastack.lab.results import Results
from adastack.lab.statistics import Floats
from adastack.lab.studies.study import tmaze
from adastack.lab.studies.study_figures import analysis
from adastack.tasks.spec import parse_spec

MAZES = ("passive", "active")
LENGTHS, SMOKE_LENGTHS = (2, 3, 4, 5, 6, 8, 12, 16), (2, 3)
GAP_LENGTHS, SMOKE_GAP_LENGTHS = (3, 4, 8, 16, 32, 64, 128, 256), (3, 4)
CHOICES = 2000
"""Enough to decide each size; a longer search would only look for the best that is too small."""
LABELS = {"adaptive": "AS(κ)", "frame": "FS(k*)"}


def sweep(scale: Scale) -> list[Job]:
    """Exact computations alone."""
    lengths = scale.pick(paper=LENGTHS, smoke=SMOKE_LENGTHS)
    gap_lengths = list(scale.pick(paper=GAP_LENGTHS, smoke=SMOKE_GAP_LENGTHS))
    tasks = [*(tmaze(maze, length) for maze in MAZES for length in lengths), "xormaze"]
    kappas = [
        {"task": task, "memory": rule, "max_choices": CHOICES} for task in tasks for rule in LABELS
    ]
    gaps = [
        {"task": f"{maze}-tmaze", "lengths": gap_lengths, "k": 2, "gamma": 0.99} for maze in MAZES
    ]
    return [
        *(Job("kappa", settings) for settings in kappas),
        *(Job("gap", settings) for settings in gaps),
    ]


def analyse(results: Results) -> Analysis:
    """The paper's two panels, and tables."""
    rows = results.exact("kappa")
    table = Table(
        "kappa",
        ["task", "memory", "slots that are enough", "value of perfect memory"],
        [[r["task"], r["memory"], _slots(r), _short(r["optimum"])] for r in rows],
        "The smallest stack with a policy that is optimal from every start.",
    )
    gaps = [
        [
            g["task"],
            row["length"],
            row["stack"],
            *(_short(row[n]) for n in ("optimal", "agent", "gap")),
        ]
        for g in results.exact("gap")
        for row in g["rows"]
    ]
    header = ["task", "length", "stack", "V*", "V_k", "gap"]
    caption = (
        "Left and middle: slots that are enough, by exact search. Right: |V* - V_k| when the cue "
        "and then the corridor have been seen, discount 0.99."
    )
    panels = [*(_kappa_panel(rows, maze) for maze in MAZES), _gap_panel(results)]
    return analysis(
        [
            table,
            Table("gap", header, gaps, "The value gap under an optimal policy with two slots."),
        ],
        [Figure("minimal-memory", caption, figures.lines(panels, columns=3))],
    )


def _kappa_panel(rows: list[dict[str, Any]], maze: str) -> Panel:
    groups: dict[str, dict[str, Floats]] = {}
    for row in rows:
        name, words = parse_spec(row["task"])
        if name == f"{maze}-tmaze" and row["kappa"] is not None:
            group = groups.setdefault(words["length"], {})
            group[LABELS[row["memory"]]] = np.array([row["kappa"]], np.float64)
    return Panel(f"Slots, {maze.capitalize()}-TMaze", groups, "maze length")


def _gap_panel(results: Results) -> Panel:
    groups: dict[str, dict[str, Floats]] = {}
    for found in results.exact("gap"):
        for row in found["rows"]:
            label = f"{found['task'].removesuffix('-tmaze').capitalize()}-TMaze"
            groups.setdefault(str(row["length"]), {})[label] = np.array([row["gap"]])
    return Panel("Value gap", groups, "maze length")


def _slots(row: dict[str, Any]) -> str | int:
    found: int | None = row["kappa"]
    return f"at least {row['at_least']}" if found is None else found


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


def _kappa_is(task: str, memory: str, want: int) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        return judged(row["kappa"] == want, f"{task}: {_slots(row)}")

    return exactly("kappa", judge, task=task, memory=memory)


def _at_most(task: str, memory: str, most: int) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        found = row["kappa"]
        return judged(found is not None and found <= most, f"{task}: {_slots(row)}")

    return exactly("kappa", judge, task=task, memory=memory)


def _gap_judge(row: dict[str, Any]) -> Found | None:
    gaps = {each["length"]: each["gap"] for each in row["rows"]}
    if set(gaps) < set(GAP_LENGTHS):
        return None
    known = [gaps[length] for length in GAP_LENGTHS]
    text = ", ".join(f"{length}: {gap:.3g}" for length, gap in gaps.items())
    # A corridor of one cell has one history behind its stack, so no gap.
    return judged(
        bool(known[0] < 1e-12 and (np.diff(known[:6]) > 0).all()), f"{row['task']} {text}"
    )


CLAIMS = (
    Claim(
        "minimal-adaptive",
        "Two slots are enough for Adaptive Stacking in both TMazes, however long they are.",
        "Figure 7a",
        all_of(
            [_kappa_is(tmaze(maze, n), "adaptive", 2) for maze in MAZES for n in LENGTHS],
            "kappa = 2 at every length, with the optimal policy as proof",
        ),
    ),
    Claim(
        "minimal-frame",
        "A frame stack needs as many slots as the maze is long.",
        "Figure 7a",
        all_of(
            [_kappa_is(tmaze(maze, n), "frame", n) for maze in MAZES for n in LENGTHS],
            "the smallest sufficient frame stack is the length, every smaller one refuted",
        ),
    ),
    Claim(
        "minimal-xormaze",
        "Adaptive Stacking needs three slots in the XorMaze.",
        "Section 5, other domains; Table 2",
        all_of([_kappa_is("xormaze", "adaptive", 3)], "kappa = 3"),
    ),
    Claim(
        "minimal-xormaze-frame",
        "A frame stack of five slots, the paper's oracle, is enough in the XorMaze.",
        "Section 5, other domains",
        all_of([_at_most("xormaze", "frame", 5)], "the smallest sufficient frame stack has 5"),
        reading="k* is an order that is enough, not the smallest",
    ),
    Claim(
        "minimal-xormaze-fewer",
        "Four frames are already enough in the XorMaze: when the second cue has been seen and the "
        "centre is reached, the first cue is the fourth most recent observation.",
        "not in the paper",
        all_of([_kappa_is("xormaze", "frame", 4)], "the smallest sufficient frame stack has 4"),
        ours=True,
    ),
    Claim(
        "minimal-gap",
        "The value of a stack differs from that of the history behind it, and more so in "
        "longer mazes, though the policy is optimal.",
        "Figure 7b",
        all_of(
            [exactly("gap", _gap_judge, task=f"{maze}-tmaze") for maze in MAZES],
            "no gap at length 3, and one that grows with the length up to 128",
        ),
    ),
)
EXPERIMENT = Experiment(sweep=sweep, analyse=analyse, claims=CLAIMS)
