"""How long a corridor each kind of memory learns to bridge."""

from __future__ import annotations

from adastack.lab import figures
from adastack.lab.checks import above
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment, Figure, Table
from adastack.lab.figures import Panel
from adastack.lab.league.entrants import PRESET, entrant_of
from adastack.lab.league.league import memories_on
from adastack.lab.results import Results
from adastack.lab.statistics import wilson_interval
from adastack.lab.studies.study import HELD_OUT, Point, Study, tmaze
from adastack.lab.studies.study_figures import analysis, seed_table, values_of

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 1500)
SMOKE_LENGTHS = (4,)
SOLVED = 0.95
"""The success from which on a seed has learned its maze."""
ENTRANTS = tuple(map(entrant_of, ("adaptive:2", "none+gru", "none+lstm", "none+lru", "frame:16")))


def _points(lengths: tuple[int, ...]) -> tuple[Point, ...]:
    # Widths depend on the colours that are seen, not on how long the corridor is.
    memories = memories_on(tmaze("passive", 16), ENTRANTS)
    return tuple(Point(str(n), tmaze("passive", n), memories) for n in lengths)


STUDY = Study(
    "maze length",
    _points(LENGTHS),
    smoke=tuple(Point(p.name, p.task, p.memories[:2]) for p in _points(SMOKE_LENGTHS)),
    preset=PRESET,
    seeds=3,
    first_seed=HELD_OUT,
    batch=1,
    smoke_steps=3200,
    metrics={"success": "Success after training, greedy"},
)


def analyse(results: Results) -> Analysis:
    """Success by length, and the longest maze that each memory learns."""
    what = "Passive-TMaze, PPO, 10^6 steps"
    return analysis(
        [_longest(results), seed_table(results, STUDY, "seeds", f"{what}.")],
        [_figure(results, f"{what}: success after training by the length of the maze.")],
    )


def _figure(results: Results, caption: str) -> Figure:
    groups = {
        point.name: {
            memory.label: values_of(results, STUDY, point, memory, "success")
            for memory in point.memories
        }
        for point in STUDY.shown(results)
    }
    panel = Panel("", groups, "maze length", "success")
    return Figure("lengths", caption, figures.lines([panel], columns=1))


def _longest(results: Results) -> Table:
    """Where each memory stops learning: the longest maze that every seed learns, and the rest."""
    rows: list[list[str | float | int | None]] = []
    for memory in STUDY.points[0].memories:
        counts = _counts(results, memory.label)
        if counts:
            fails = next((name for name, (good, tried) in counts.items() if good < tried), None)
            learned = list(counts)[: list(counts).index(fails)] if fails else list(counts)
            said = (f"{name}: {good} of {tried} {wilson_interval(good, tried)}"
                    for name, (good, tried) in counts.items())  # fmt: skip
            rows.append([memory.label, learned[-1] if learned else None, fails, "; ".join(said)])
    header = ["memory", "every seed learns up to", "first length at which one fails"]
    return Table(
        "longest",
        [*header, "seeds that learn (95%)"],
        rows,
        f"Where each memory stops learning: seeds with a success of at least {SOLVED:.0%}.",
    )


def _counts(results: Results, label: str) -> dict[str, tuple[int, int]]:
    """By length: how many seeds learned it, of how many that were run."""
    found = {}
    for point in STUDY.shown(results):
        for memory in point.memories:
            values = values_of(results, STUDY, point, memory, "success")
            if memory.label == label and len(values):
                found[point.name] = int((values >= SOLVED).sum()), len(values)
    return found


CLAIMS = (
    Claim(
        "lengths-longest",
        "In a maze of 1500 cells AS(2) succeeds more often than every recurrent cell.",
        "not in the paper",
        all_of(
            [
                above("success", STUDY.arm("1500", "AS(2)"), STUDY.arm("1500", cell))
                for cell in ("GRU", "LSTM", "LRU")
            ],
            "95% intervals of the differences above 0",
        ),
        ours=True,
    ),
    Claim(
        "lengths-window",
        "In a maze of 32 cells AS(2) succeeds more often than a window of 16.",
        "not in the paper",
        all_of(
            [above("success", STUDY.arm("32", "AS(2)"), STUDY.arm("32", "FS(16)"))],
            "95% interval of the difference above 0",
        ),
        ours=True,
    ),
)
EXPERIMENT = Experiment(sweep=STUDY.jobs, analyse=analyse, claims=CLAIMS)
