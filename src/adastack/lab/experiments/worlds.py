"""Studies of worlds: success while training, and in tests that differ from it by one option."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from adastack.lab import figures
from adastack.lab.experiment import Figure
from adastack.lab.experiments.study import Memory, Point, Study
from adastack.lab.figures import Panel
from adastack.lab.results import Results
from adastack.lab.statistics import Floats
from adastack.tasks.registry import split_spec


def world_study(
    task: str,
    memories: tuple[Memory, ...],
    tests: tuple[str, ...] = (),
    *,
    name: str | None = None,
    smoke_tests: int = 1,
    smoke: bool = True,
    **rest: object,
) -> Study:
    """Memories in one world, with the world's own preset.

    Args:
        task: The world with its options.
        memories: What is compared.
        tests: The worlds to test in.
        name: What stands on the axis; by default the world's name.
        smoke_tests: How many of the tests are made at smoke scale.
        smoke: Whether there is a run at smoke scale, of the first two memories.
        rest: Further fields of the study.
    """
    world = task.partition(":")[0]
    point = Point(name or world, task, memories, tests)
    few = (Point(point.name, task, memories[:2], tests[:smoke_tests]),) if smoke else ()
    return Study("", (point,), smoke=few, preset=world, **rest)  # type: ignore[arg-type]


def panel_of_tests(
    results: Results, study: Study, option: str, title: str, metric: str = "success"
) -> Panel:
    """A metric over the tests, by the option in which they differ."""
    (point,) = study.points
    groups: dict[str, Mapping[str, Floats]] = {}
    for test in point.tests:
        words = split_spec(test)[1]
        if option not in words:
            continue
        group = {
            memory.label: _values(results, study, point, memory, test, metric)
            for memory in point.memories
        }
        if any(len(values) for values in group.values()):
            groups[words[option]] = group
    return Panel(title, groups, option.replace("_", " "), metric)


def figure_of_tests(name: str, caption: str, panels: list[Panel]) -> Figure:
    """Lines over the tests."""
    return Figure(name, caption, figures.lines(panels, columns=max(2, min(3, len(panels)))))


def _values(
    results: Results, study: Study, point: Point, memory: Memory, test: str, metric: str
) -> Floats:
    rows = results.evaluations(**study.where(point, memory), tested=test)
    return np.array([row[metric] for row in rows if row.get(metric) is not None], np.float64)
