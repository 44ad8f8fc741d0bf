"""What a study shows: bars, lines, curves and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adastack.lab import figures
from adastack.lab.experiment import Analysis, Figure, Table
from adastack.lab.figures import Curves, Panel
from adastack.lab.results import Results, Row
from adastack.lab.statistics import (
    Floats,
    bootstrap_interval,
    contrast_interval,
    iqm,
    probability_of_improvement,
    solved,
    summary,
    wilson_interval,
)
from adastack.lab.studies.study import Memory, Point, Study

# Regrets are shares of steps.
REGRETS = {
    "auc_memory_regret": "Memory regret",
    "auc_memory_regret_after": "Memory regret after the step",
    "auc_active_regret": "Active regret",
    "auc_passive_regret": "Passive regret",
}
FINAL = {"optimality": "Optimality after training, greedy"}
CONTINUAL = {"auc_reward": "Reward per 1000 steps", **REGRETS, **FINAL}
EPISODIC = {"auc_return": "Return", **REGRETS, **FINAL}
AFTER = "memory regret as in the authors' code: after the step, but not after the last"
"""The reading of claims about the regret that a perfect agent has none of."""
SCALING = {"auc_return": "Return over the training", "auc_memory_regret": "Memory regret"}
MEANS = "means over the training, where a panel does not say otherwise"
SOLVED = 0.98
"""The share of the optimal value at which a seed counts as having solved its task."""


def analysis(tables: Sequence[Table] = (), figures: Sequence[Figure] = ()) -> Analysis:
    """What there is to see: drawings and tables of nothing are left out."""
    return Analysis(
        [table for table in tables if table.rows], [figure for figure in figures if figure.svg]
    )


def metrics_of(study: Study) -> Mapping[str, str]:
    """The paper's four metrics over the training, and the final policy's optimality."""
    return study.metrics or (CONTINUAL if study.continual else EPISODIC)


def main_metric(study: Study) -> str:
    """The first of the metrics, by its name in curves."""
    return next(iter(metrics_of(study))).removeprefix("auc_")


def together(shown: Sequence[Analysis]) -> Analysis:
    """Several analyses, one after the other."""
    return Analysis(
        [table for each in shown for table in each.tables],
        [figure for each in shown for figure in each.figures],
    )


def show_study(results: Results, study: Study, what: str, key: str = "") -> Analysis:
    """Bars, curves, and tables of the seeds and their comparison.

    Args:
        results: The runs.
        study: What they are runs of.
        what: The beginning of every caption.
        key: The beginning of every name, where an experiment has several studies.
    """
    prefix = f"{key}-" if key else ""
    learning = f"{what}: {main_metric(study)} while learning."
    return analysis(
        [
            seed_table(results, study, key or "seeds", f"{what}."),
            comparison_table(results, study, f"{prefix}comparison", what),
        ],
        [
            bar_figure(results, study, f"{prefix}bars", f"{what}: {MEANS}."),
            curve_figure(results, study, f"{prefix}curves", learning),
        ],
    )


def bar_figure(
    results: Results,
    study: Study,
    name: str,
    caption: str,
    metrics: Mapping[str, str] | None = None,
) -> Figure:
    """A panel for each metric, a group of bars for each point."""
    panels = _panels(results, study, metrics_of(study) if metrics is None else metrics)
    return Figure(name, caption, figures.bars(panels))


def scaling_figure(results: Results, study: Study, caption: str) -> Figure:
    """Return and memory regret: a line for each memory over the points."""
    return Figure("scaling", caption, figures.lines(_panels(results, study, SCALING), columns=2))


def curve_figure(results: Results, study: Study, name: str, caption: str) -> Figure:
    """A panel for each point: the metric over the training."""
    metric = main_metric(study)
    ylabel = "reward per 1000 steps" if metric == "reward" else metric.replace("_", " ")
    panels = []
    for point in study.shown(results):
        series: dict[str, Floats] = {}
        step = np.zeros(0)
        for memory in point.memories:
            found = results.curves(**study.where(point, memory))
            if found:
                step, values = found["step"], found[metric]
                if metric == "reward":
                    values = 1000 * values / np.diff(step, prepend=0)
                series[memory.label] = values
        # A name and the word before it stay on one line.
        title = f"{study.axis}\N{NO-BREAK SPACE}{point.name}".strip()
        panels.append(Curves(title, step, series, ylabel))
    return Figure(name, caption, figures.curves(panels))


def seed_table(results: Results, study: Study, name: str, caption: str = "") -> Table:
    """A row for each point and memory: seeds, the metrics, and how many seeds solve the task."""
    metrics = metrics_of(study)
    header = ["task", "memory", "k", "settings", "seeds", *metrics.values()]
    first = next(iter(metrics.values()))
    header += [f"{first}: 95% interval", f"{first}: IQM (bootstrap 95%)", "solved (95%)"]
    arms = [(point, memory) for point in study.shown(results) for memory in point.memories]
    # Missing runs are listed beside finished ones; with no finished run there is no table.
    begun = any(results.rows(**study.where(*arm)) for arm in arms)
    rows = [_row(results, study, *arm, metrics) for arm in arms if begun]
    return Table(name, header, rows, caption)


def comparison_table(results: Results, study: Study, name: str, what: str = "") -> Table:
    """The first memory against each other, point by point and over all points."""
    metric, title = next(iter(metrics_of(study).items()))
    rows: list[list[str | float | int | None]] = []
    chances: dict[str, list[float]] = {}
    for point in study.shown(results):
        first, *others = point.memories
        ours = values_of(results, study, point, first, metric)
        for other in others:
            theirs = values_of(results, study, point, other, metric)
            if len(ours) and len(theirs):
                chance = probability_of_improvement(ours, theirs)
                chances.setdefault(f"{first.label} over {other.label}", []).append(chance)
                interval = contrast_interval((ours, theirs), (1, -1))
                apart = f"{ours.mean() - theirs.mean():.3g} {interval}"
                versus = f"{first.label} over {other.label}"
                rows.append([point.task, versus, apart, f"{chance:.2f}"])
    for versus, each in chances.items():
        if len(each) > 1:
            rows.append(["all", versus, None, f"{np.mean(each):.2f}"])
    header = ["task", "comparison", f"{title}: difference (95%)", "chance that a seed does better"]
    caption = f"{what}: memories compared." if what else "Memories compared."
    return Table(name, header, rows, caption)


def values_of(results: Results, study: Study, point: Point, memory: Memory, metric: str) -> Floats:
    """A metric of all seeds that finished."""
    return _known(results.rows(**study.where(point, memory)), metric)


def tested_values(
    results: Results, study: Study, point: Point, memory: Memory, test: str, metric: str
) -> Floats:
    """A metric of all seeds that were tested on another task."""
    return _known(results.evaluations(**study.where(point, memory), tested=test), metric)


def best_model(
    results: Results, study: Study, point: Point, memory: Memory, test: str, metric: str
) -> float | None:
    """The metric, in a test, of the seed with the highest return at the end of its training.

    Some of the paper's figures show the best of ten models. Of equally good ones it is the first.
    """
    where = study.where(point, memory)
    trained = [row for row in results.rows(**where) if row.get("end_return") is not None]
    if not trained:
        return None
    best = max(trained, key=lambda row: (row["end_return"], -row["seed"]))["seed"]
    found = _known(
        [row for row in results.evaluations(**where, tested=test) if row["seed"] == best], metric
    )
    return float(found[0]) if len(found) else None


def _known(rows: Sequence[Row], metric: str) -> Floats:
    return np.array([row[metric] for row in rows if row.get(metric) is not None], np.float64)


def _row(
    results: Results, study: Study, point: Point, memory: Memory, metrics: Mapping[str, str]
) -> list[str | float | int | None]:
    values = {m: values_of(results, study, point, memory, m) for m in metrics}
    first = next(iter(values.values()))
    asked = study.seeds if memory.seeds is None else memory.seeds
    settings = f"{memory.algo or study.algo}, {memory.preset or study.preset}"
    row: list[str | float | int | None] = [point.task, memory.label, memory.size, settings]
    row.append(f"{len(first)} of {asked}")
    row += [_mean(each) for each in values.values()]
    if not len(first):
        return [*row, None, None, None]
    good, count = _solved(results, study, point, memory)
    share = f"{good} of {count} {wilson_interval(good, count)}" if count else None
    interval = str(summary(first).interval) if len(first) > 1 else None
    return [*row, interval, f"{iqm(first):.3g} {bootstrap_interval(first)}", share]


def _solved(results: Results, study: Study, point: Point, memory: Memory) -> tuple[int, int]:
    """Seeds that reach `SOLVED` of the optimum, or where it is unknown, that always succeed."""
    for metric, threshold in (("optimality", SOLVED), ("success", 1.0)):
        values = values_of(results, study, point, memory, metric)
        if len(values):
            return solved(values, threshold)
    return 0, 0


def _mean(values: Floats) -> str | None:
    if not len(values):
        return None
    found = summary(values)
    return f"{found.mean:.3g} ± {found.sd:.2g}"


def _panels(results: Results, study: Study, metrics: Mapping[str, str]) -> Sequence[Panel]:
    points = study.shown(results)
    return [
        Panel(
            title,
            {
                point.name: {
                    memory.label: values_of(results, study, point, memory, metric)
                    for memory in point.memories
                }
                for point in points
            },
            xlabel=study.axis,
        )
        for metric, title in metrics.items()
    ]
