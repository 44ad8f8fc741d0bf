"""Success where it was trained and in a maze of a million cells."""

from __future__ import annotations

from adastack.lab import figures
from adastack.lab.claims import Check, all_of, between
from adastack.lab.experiment import Analysis, Claim, Figure, Table
from adastack.lab.experiments.headline.sweep import FEW, LONG, STUDIES
from adastack.lab.experiments.study import Study
from adastack.lab.experiments.study_figures import analysis, tested_values, values_of
from adastack.lab.figures import Panel
from adastack.lab.results import Results
from adastack.lab.statistics import Floats, solved, summary, wilson_interval
from adastack.tasks.registry import split_spec


def analyse(results: Results) -> Analysis:
    """Bars and a table."""
    groups: list[dict[str, dict[str, Floats]]] = [{}, {}]
    rows: list[list[str | float | int | None]] = []
    tasks = ["", ""]
    for name, study in STUDIES.items():
        for point in study.shown(results):
            tasks = [point.task, point.tests[0]]
            for memory in point.memories:
                short = values_of(results, study, point, memory, "success")
                long = tested_values(results, study, point, memory, point.tests[0], "success")
                groups[0].setdefault(name, {})[memory.label] = short
                groups[1].setdefault(name, {})[memory.label] = long
                rows.append([name, memory.label, memory.size, *_words(short), *_words(long)])
    panels = [
        Panel(f"Success, {when} at length {_length(task)}", group, "network")
        for when, task, group in zip(("trained", "tested"), tasks, groups, strict=True)
    ]
    caption = "Success of greedy policies: where they were trained, and in a far longer maze."
    header = ["network", "memory", "k", "trained", "perfect seeds", "tested", "perfect", "95%"]
    return analysis(
        [Table("success", header, [row[:5] + row[6:] for row in rows], caption)],
        [Figure("success", caption, figures.bars(panels))],
    )


def _length(task: str) -> str:
    return f"{int(split_spec(task)[1].get('length', 0)):,}"


def _words(values: Floats) -> list[str | None]:
    """Mean and deviation, perfect seeds, and the interval of their share."""
    if not len(values):
        return [None, None, None]
    found, (good, count) = summary(values), solved(values, 1.0)
    mean = f"{found.mean:.1%} ± {found.sd:.1%}"
    return [mean, f"{good} of {count}", str(wilson_interval(good, count))]


def _with(name: str) -> str:
    return f"with {'a' if name == 'Transformer' else 'an'} {name}"


def _about(name: str, study: Study) -> tuple[Claim, ...]:
    """What is claimed of one network."""

    def reaches(label: str, low: float, high: float, tested: str | None = LONG) -> Check:
        return between("success", study.arm(name, label, tested, least=FEW), low, high)

    key, net = name.lower(), _with(name)
    return (
        Claim(
            f"headline-adaptive-{key}",
            f"Trained at length 16, AS(2) {net} solves a maze of a million cells.",
            "Figure 1; Section 5, episodic TMaze",
            all_of(
                [reaches("AS(κ), robust", 0.99, 1.0)],
                "mean success of at least 99% (our settings)",
            ),
        ),
        Claim(
            f"headline-frame-{key}",
            f"The oracle FS(16) of length 16 {net} fails at a million.",
            "Figure 1; Section 5, episodic TMaze",
            all_of(
                [reaches("FS(k*), robust", 0.0, 0.6)],
                "mean success of at most 60% (our settings)",
            ),
        ),
        Claim(
            f"headline-trained-{key}",
            f"At length 16, where they were trained, AS(2) and FS(16) {net} both succeed.",
            "Figure 1",
            all_of(
                [
                    reaches("AS(κ), robust", 0.99, 1.0, None),
                    reaches("FS(k*), robust", 0.99, 1.0, None),
                ],
                "mean success of at least 99% (our settings)",
            ),
        ),
    )


CLAIMS = (
    *(claim for name, study in STUDIES.items() for claim in _about(name, study)),
    Claim(
        "headline-published",
        "The published settings are enough for AS(2) with an MLP to solve a maze of a million.",
        "Figure 1; Table 4",
        all_of(
            [between("success", STUDIES["MLP"].arm("MLP", "AS(κ)", LONG), low=0.99)],
            "mean success of at least 99% at a million",
        ),
    ),
)
