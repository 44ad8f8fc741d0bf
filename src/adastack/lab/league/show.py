"""What the league shows: a table, pictures, and what follows from them in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adastack.lab import figures
from adastack.lab.experiment import Analysis, Figure, Table
from adastack.lab.figures import Grid
from adastack.lab.league import words
from adastack.lab.league.entrants import Entrant
from adastack.lab.league.league import League, widths
from adastack.lab.league.speed import KIND
from adastack.lab.league.words import Standing, standing
from adastack.lab.results import Results
from adastack.lab.statistics import Floats, t_interval
from adastack.lab.studies.study import Point, Study
from adastack.lab.studies.study_figures import analysis, curve_figure, values_of
from adastack.tasks.registry import TASKS
from adastack.tasks.spec import parse_spec

SCORE = "return"
RULES = (
    "Which memory for which problem. Worse: the interval of the gap to the best, 95% for all "
    "comparisons of a task together, is above 0, and the gap is more than a twentieth of what "
    "memories differ by; as good: the interval is below that. Of those that are as good, the one "
    "that carries the fewest bytes is taken."
)
WORDS = "which-memory"
"""The table that says so task by task."""


def show_league(results: Results, league: League) -> Analysis:
    """The table of standings, the scores as a picture, the words and the sizes."""
    study = league.study
    points = study.shown(results)
    found = standings(results, study, points)
    return analysis(
        [
            words_table(found, league),
            score_table(results, study, points),
            speed_table(results, league),
        ],
        [
            score_figure(results, study, points),
            curve_figure(results, study, "curves", "Return while learning."),
        ],
    )


def standings(results: Results, study: Study, points: Sequence[Point]) -> list[Standing]:
    """How memories stand on every task that has runs enough."""
    found = (standing(point.name, _scores(results, study, point, SCORE)) for point in points)
    return [each for each in found if each is not None]


def sentences(results: Results, league: League) -> list[str]:
    """What follows from the scores, as a page says it."""
    study = league.study
    found = standings(results, study, study.shown(results))
    if not found:
        return ["No task has been run with two memories and two seeds yet."]
    ours = [each.label for each in league.entrants if each.ours]
    said = words.memory_needed(found) if _has_control(league) else []
    return [*said, *(words.summary(found, ours) if ours else [])]


def words_table(found: Sequence[Standing], league: League) -> Table:
    """A row for each task: what must be remembered, the memory to take, and why."""
    rows: list[list[str | float | int | None]] = []
    for each in found:
        carried = _carried(each.task, league.entrants)
        rows.append([each.task, remembered(each.task), words.advice(each, carried), str(each)])
    return Table(
        WORDS,
        ["task", "what must be remembered", "take", "because"],
        rows,
        RULES,
    )


def score_table(results: Results, study: Study, points: Sequence[Point]) -> Table:
    """A row for each task and memory: score, MMER, weights, bytes, what was kept."""
    rows: list[list[str | float | int | None]] = []
    for point in points:
        if not any(len(v) for v in _scores(results, study, point, SCORE).values()):
            continue
        sizes = _sizes(point)
        for memory in point.memories:
            values = values_of(results, study, point, memory, SCORE)
            mmer = values_of(results, study, point, memory, "mmer")
            regret = values_of(results, study, point, memory, "memory_regret")
            rows.append(
                [
                    point.task,
                    memory.label,
                    *sizes[memory.label],
                    f"{len(values)} of {study.seeds}",
                    _with_interval(values),
                    _with_interval(mmer),
                    _kept(memory.label, regret),
                ]
            )
    header = ["task", "memory", "weights", "bytes carried", "seeds", "return, greedy (95%)"]
    header += ["MMER (95%)", "cue in the stack"]
    return Table(
        "scores",
        header,
        rows,
        "Scores after training. MMER is POPGym's: the highest mean return of an eightieth of the "
        "training. Bytes carried: what an agent needs from one step to the next to act.",
    )


def score_figure(results: Results, study: Study, points: Sequence[Point]) -> Figure:
    """A picture of all scores: tasks by memories, from the lowest to the highest of a task."""
    begun = [p for p in points if any(len(v) for v in _scores(results, study, p, SCORE).values())]
    labels = list(dict.fromkeys(memory.label for point in begun for memory in point.memories))
    shape = (len(begun), len(labels))
    values, spreads = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, point in enumerate(begun):
        for label, scores in _scores(results, study, point, SCORE).items():
            if len(scores):
                values[row, labels.index(label)] = scores.mean()
                spreads[row, labels.index(label)] = scores.std()
    names = [point.name.partition(":previous")[0].removeprefix("popgym-") for point in begun]
    grid = Grid("", names, labels, values, spreads=spreads)
    drawn = figures.score_map(grid) if begun else ""
    return Figure(
        "scores",
        "Return after training, mean and standard deviation of the seeds; colours run from the "
        "lowest to the highest mean of each task.",
        drawn,
    )


def speed_table(results: Results, league: League) -> Table:
    """Trained steps a second of each memory, measured in turns."""
    rows: list[list[str | float | int | None]] = []
    for answer in results.exact(KIND):
        for label, rate in answer["steps_per_second"].items():
            rows.append([answer["task"], label, round(rate)])
    return Table(
        "speed",
        ["task", "memory", "trained steps a second"],
        rows,
        "Speed of training, one core: memories in turns in one process, medians.",
    )


def remembered(task: str) -> str:
    """What must be remembered, as the table of tasks says it."""
    row = TASKS.get(parse_spec(task).name)
    return "–" if row is None else row.remember


def _scores(results: Results, study: Study, point: Point, metric: str) -> dict[str, Floats]:
    return {
        memory.label: values_of(results, study, point, memory, metric) for memory in point.memories
    }


def _sizes(point: Point) -> dict[str, tuple[int, int]]:
    """Weights and carried bytes of the memories on a task."""
    # Not at the start: it imports what trains.
    from adastack.lab.league.weights import sizes_on

    sizes = sizes_on(point.task)
    found = {}
    for memory in point.memories:
        entrant = Entrant(memory.rule, memory.size, memory.overrides.get("cell", "none"))
        hidden = memory.overrides["hidden"]
        found[memory.label] = sizes.weights(entrant, hidden), sizes.carried_bytes(entrant, hidden)
    return found


def _carried(task: str, entrants: Sequence[Entrant]) -> Mapping[str, int]:
    from adastack.lab.league.weights import sizes_on

    sizes, hidden = sizes_on(task), widths(task, entrants)
    return {each.label: sizes.carried_bytes(each, hidden[each]) for each in entrants}


def _with_interval(values: Floats) -> str | None:
    if not len(values):
        return None
    interval = f" {t_interval(values)}" if len(values) > 1 else ""
    return f"{values.mean():.3g}{interval}"


def _kept(label: str, regret: Floats) -> str | None:
    """How much of the time the stack held the cue, where the task names one."""
    return f"{1 - regret.mean():.0%} of steps" if len(regret) and "(" in label else None


def _has_control(league: League) -> bool:
    return any(each.label == "none" for each in league.entrants)
