"""Policies trained at one point and tested at another, as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adastack.lab import figures
from adastack.lab.experiment import Figure
from adastack.lab.figures import Grid
from adastack.lab.results import Results
from adastack.lab.statistics import Floats, summary
from adastack.lab.studies.study import Point, Study
from adastack.lab.studies.study_figures import tested_values
from adastack.tasks.spec import parse_spec


def tested(study: Study, tests: Sequence[str], smoke: Sequence[str]) -> Study:
    """The study with every policy tested on these tasks, at smoke scale on those."""

    def with_tests(points: Sequence[Point], tasks: Sequence[str]) -> tuple[Point, ...]:
        return tuple(replace(point, tests=tuple(tasks)) for point in points)

    return replace(
        study, points=with_tests(study.points, tests), smoke=with_tests(study.smoke, smoke)
    )


def grid_figure(
    results: Results, study: Study, metric: str, name: str, caption: str, trained: str
) -> Figure:
    """A heat map for each memory: means over the seeds, with their standard deviations."""
    grids = grids_of(results, study, metric, trained)
    known = np.concatenate([grid.values.ravel() for grid in grids] or [np.zeros(0)])
    known = known[np.isfinite(known)]
    limits = (0.0, 1.0)
    if metric == "abstraction" and len(known) and known.max() > known.min():
        limits = (float(known.min()), float(known.max()))
    return Figure(
        name, caption, figures.heat_maps(grids, columns=max(3, min(4, len(grids))), limits=limits)
    )


def grids_of(results: Results, study: Study, metric: str, trained: str) -> list[Grid]:
    """The heat maps, rows tested and columns trained."""
    points = study.shown(results)
    labels = dict.fromkeys(memory.label for point in points for memory in point.memories)
    made = {row["tested"] for row in results.evaluations()}
    tests = [t for t in dict.fromkeys(t for p in points for t in p.tests) if t in made]
    names = [f"{parse_spec(test).options.get('length', test)}" for test in tests]
    columns = [point.name for point in points]
    grids = []
    for label in labels:
        means, spreads = _cells(results, study, label, tests, metric)
        grids.append(Grid(label, names, columns, means, trained, "tested length", spreads))
    return grids


def _cells(
    results: Results, study: Study, label: str, tests: Sequence[str], metric: str
) -> tuple[Floats, Floats]:
    """Means and standard deviations of one memory, (tests, points); NaN where there are none."""
    points = study.shown(results)
    cells = np.full((2, len(tests), len(points)), np.nan)
    for column, point in enumerate(points):
        for memory in (each for each in point.memories if each.label == label):
            for row, test in enumerate(tests):
                values = tested_values(results, study, point, memory, test, metric)
                if len(values):
                    found = summary(values)
                    cells[:, row, column] = found.mean, found.sd
    return cells[0], cells[1]
