"""Studies of worlds: success while training, and in tests that differ from it by one option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adastack.lab import figures
from adastack.lab.checks import above
from adastack.lab.claims import Arm, Claim, all_of
from adastack.lab.experiment import Analysis, Figure, Table
from adastack.lab.figures import Panel
from adastack.lab.results import Results
from adastack.lab.statistics import Floats
from adastack.lab.studies.study import HELD_OUT, Memory, Point, Study
from adastack.lab.studies.study_figures import (
    analysis,
    best_model,
    main_metric,
    show_study,
    tested_values,
    together,
)
from adastack.tasks.spec import parse_spec

SUCCESS = {
    "auc_success": "Success over the training",
    "success": "Success after training, greedy",
    "auc_return": "Return over the training",
}
REMEMBERED = {**SUCCESS, "auc_memory_regret": "Memory regret"}
"""For worlds that report what must be remembered."""


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
    """Memories in one world, with the world's own preset, on seeds that did not help to choose it.

    Args:
        task: The world with its options.
        memories: What is compared.
        tests: The worlds to test in.
        name: What stands on the axis; by default the world's name.
        smoke_tests: How many of the tests are made at smoke scale.
        smoke: Whether there is a run at smoke scale, of the first two memories.
        rest: Further fields of the study.
    """
    world = parse_spec(task).name
    point = Point(name or world, task, memories, tests)
    brief = tuple(replace(memory, tests=()) for memory in memories[:2])
    few = (Point(point.name, task, brief, tests[:smoke_tests]),) if smoke else ()
    # Where a network is all the work, seeds gain nothing by running side by side.
    fields = {
        **{"preset": world, "first_seed": HELD_OUT, "batch": 1, "metrics": SUCCESS},
        **rest,
    }
    return Study("", (point,), smoke=few, **fields)  # type: ignore[arg-type]


def show_world(
    results: Results,
    study: Study,
    what: str,
    *,
    tests: Mapping[str, Sequence[str]] | None = None,
    key: str = "",
) -> Analysis:
    """What every study shows, and the tests.

    Args:
        results: What there is.
        study: The world and its memories.
        what: The world as captions name it; begins every caption.
        tests: Each panel's title with its tests, which differ in one option.
        key: The beginning of every name, where an experiment has several studies.
    """
    name = f"{key}-tests" if key else "tests"
    how = "greedy" if study.greedy else "actions drawn as in training"
    table = _table_of_tests(results, study, name, f"{what}: tests, {how}.")
    panels = [_panel(results, study, title, specs) for title, specs in (tests or {}).items()]
    drawn = figures.lines(panels, columns=max(2, len(panels))) if panels else ""
    figure = Figure(name, f"{what}: success in tests, {how}.", drawn)
    return together([show_study(results, study, what, key), analysis([table], [figure])])


def succeeds_more(
    study: Study,
    name: str,
    place: str,
    where: str,
    labels: tuple[str, str] = ("AS(k)", "FS(k)"),
    metric: str = "success",
) -> tuple[Claim, Claim]:
    """The claims that one memory of a study succeeds more often than another of the same size.

    Args:
        study: A world with these memories and its own task among the tests.
        name: Begins the claims' ids.
        place: As in a sentence: "On scrambled cubes".
        where: In the paper.
        labels: The memories.
        metric: What is compared.
    """
    (point,) = study.points
    size = next(memory.size for memory in point.memories if memory.label == labels[0])
    needed = "95% interval of the difference above 0"
    does = "succeeds more often" if metric == "success" else "earns more"
    says = f"{place}, AS({size}) {does} than FS({size})"

    def pair(tested: str | None) -> tuple[Arm, Arm]:
        ours, theirs = (study.arm(point.name, label, tested) for label in labels)
        return ours, theirs

    training, testing = above(f"auc_{metric}", *pair(None)), above(metric, *pair(point.task))
    return (
        Claim(f"{name}-training", f"{says} while training.", where, all_of([training], needed)),
        Claim(f"{name}-testing", f"{says} when tested.", where, all_of([testing], needed)),
    )


def _table_of_tests(results: Results, study: Study, name: str, caption: str) -> Table:
    """A row for each test and memory, with every seed."""
    (point,), metric = study.points, main_metric(study)
    rows: list[list[str | float | int | None]] = []
    for memory in point.memories:
        for test in (*point.tests, *(each.task for each in memory.tests)):
            found = tested_values(results, study, point, memory, test, metric)
            if len(found):
                seeds = ", ".join(f"{value:.3g}" for value in found)
                best = best_model(results, study, point, memory, test, metric)
                words = None if best is None else f"{best:.3g}"
                mean = f"{found.mean():.3g}"
                rows.append([test, memory.label, memory.size, mean, seeds, words])
    header = ["tested on", "memory", "k", metric, "each seed", "best model of the training"]
    return Table(name, header, rows, caption)


def _panel(results: Results, study: Study, title: str, tests: Sequence[str]) -> Panel:
    """Success over tests, by the option in which they differ."""
    (point,) = study.points
    words = {test: parse_spec(test).options for test in tests}
    option = next(n for n in words[tests[0]] if len({each[n] for each in words.values()}) > 1)
    groups: dict[str, Mapping[str, Floats]] = {}
    for test in tests:
        group = {
            memory.label: tested_values(results, study, point, memory, test, "success")
            for memory in point.memories
        }
        if any(len(values) for values in group.values()):
            groups[words[test][option]] = group
    return Panel(title, groups, option.replace("_", " "), "success")
