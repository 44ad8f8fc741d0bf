"""Trained in a short maze, tested in one of a million cells: AS(2) and FS(16), three networks."""

from __future__ import annotations

from dataclasses import replace

from adastack.lab import figures
from adastack.lab.checks import solves, unsolved
from adastack.lab.claims import Check, Claim, all_of
from adastack.lab.experiment import Analysis, Experiment, Figure, Table
from adastack.lab.figures import Panel
from adastack.lab.job import BATCH
from adastack.lab.results import Results
from adastack.lab.statistics import Floats, solved, summary, wilson_interval
from adastack.lab.studies.study import NETS, Memory, Point, Study, sweep_of, tmaze
from adastack.lab.studies.study_figures import analysis, best_model, tested_values, values_of
from adastack.tasks.spec import parse_spec

LENGTH, LONG = 16, tmaze("passive", 1_000_000)
SMOKE_LENGTH, SMOKE_LONG = 4, tmaze("passive", 1000)
PERFECT = 0.99
FEW = 4
"""Seeds of FS(16) with networks that read slot by slot: as few as can show what most seeds do."""

MORE = 95
"""Seeds of AS(2) with the published settings: ten did not say whether most of them succeed, nor did
25."""


def _point(name: str, length: int, test: str, seeds: int | None, published: bool) -> Point:
    memories = [
        Memory("AS(κ), robust", "adaptive", 2),
        Memory("FS(k*), robust", "frame", length, seeds=seeds),
    ]
    if published:
        memories += [
            Memory("AS(κ)", "adaptive", 2, preset="paper", seeds=MORE),
            Memory("FS(k*)", "frame", length, preset="paper"),
        ]
    return Point(name, tmaze("passive", length), tuple(memories), (test,))


def _smoke(name: str, net: str | None) -> Point:
    """As short as can be; the slow networks with one memory alone."""
    point = _point(name, SMOKE_LENGTH, SMOKE_LONG, None, published=False)
    return point if net is None else replace(point, memories=point.memories[:1])


def _study(name: str, net: str | None) -> Study:
    few = None if net is None else FEW
    return Study(
        "network",
        (_point(name, LENGTH, LONG, few, published=net is None),),
        smoke=(_smoke(name, net),),
        preset="robust",
        net=net,
        batch=BATCH if net is None else 1,
    )


STUDIES = {name: _study(name, net) for name, net in NETS.items()}


def analyse(results: Results) -> Analysis:
    """Bars and a table: success where it was trained, and in a maze of a million cells."""
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
                best = best_model(results, study, point, memory, point.tests[0], "success")
                words = None if best is None else f"{best:.1%}"
                rows.append([name, memory.label, memory.size, *_words(short), *_words(long), words])
    panels = [
        Panel(f"Success, {when} at length {_length(task)}", group, "network")
        for when, task, group in zip(("trained", "tested"), tasks, groups, strict=True)
    ]
    caption = "Success of greedy policies: where they were trained, and in a far longer maze."
    header = ["network", "memory", "k", "trained", "perfect seeds", "tested", "perfect", "95%"]
    header.append("best model, tested")
    return analysis(
        [Table("success", header, [row[:5] + row[6:] for row in rows], caption)],
        [Figure("success", caption, figures.bars(panels))],
    )


def _length(task: str) -> str:
    return f"{int(parse_spec(task).options.get('length', 0)):,}"


def _words(values: Floats) -> list[str | None]:
    """Mean and deviation, perfect seeds, and the interval of their share."""
    if not len(values):
        return [None, None, None]
    found, (good, count) = summary(values), solved(values, 1.0)
    mean = f"{found.mean:.1%} ± {found.sd:.1%}"
    return [mean, f"{good} of {count}", str(wilson_interval(good, count))]


def _claims(name: str, study: Study) -> tuple[Claim, ...]:
    """What is claimed of one network."""

    def reaches(label: str, tested: str | None = LONG) -> Check:
        return solves("success", study.arm(name, label, tested, least=FEW), PERFECT)

    key, net = name.lower(), f"with {'a' if name == 'Transformer' else 'an'} {name}"
    perfect = "more than half of the seeds succeed in 99% of the attempts"
    return (
        Claim(
            f"headline-adaptive-{key}",
            f"Trained at length 16, AS(2) {net} solves a maze of a million cells.",
            "Figure 1; Section 5, episodic TMaze",
            all_of([reaches("AS(κ), robust")], perfect),
        ),
        Claim(
            f"headline-frame-{key}",
            f"The oracle FS(16) of length 16 {net} fails at a million.",
            "Figure 1; Section 5, episodic TMaze",
            all_of(
                [unsolved("success", study.arm(name, "FS(k*), robust", LONG, least=FEW), PERFECT)],
                "fewer than half of the seeds succeed in 99% of the attempts",
            ),
        ),
        Claim(
            f"headline-trained-{key}",
            f"At length 16, where they were trained, AS(2) and FS(16) {net} both succeed.",
            "Figure 1",
            all_of(
                [
                    reaches("AS(κ), robust", None),
                    reaches("FS(k*), robust", None),
                ],
                perfect,
            ),
        ),
    )


CLAIMS = (
    *(claim for name, study in STUDIES.items() for claim in _claims(name, study)),
    Claim(
        "headline-published",
        "The published settings are enough for AS(2) with an MLP to solve a maze of a million.",
        "Figure 1; Table 4",
        all_of(
            [solves("success", STUDIES["MLP"].arm("MLP", "AS(κ)", LONG), PERFECT)],
            "more than half of the seeds succeed in 99% of the attempts at a million",
        ),
    ),
)
EXPERIMENT = Experiment(sweep=sweep_of(STUDIES.values()), analyse=analyse, claims=CLAIMS)
