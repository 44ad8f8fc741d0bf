"""Which model is tested: the last weights of a training, or those that earned the most."""

from __future__ import annotations

from adastack.lab import figures
from adastack.lab.checks import solves, unsolved
from adastack.lab.claims import Check, Claim, all_of
from adastack.lab.experiment import Analysis, Experiment, Figure, Table
from adastack.lab.experiments.headline import LENGTH, LONG, PERFECT, SMOKE_LENGTH, SMOKE_LONG
from adastack.lab.figures import Panel
from adastack.lab.results import Results
from adastack.lab.statistics import Floats, summary
from adastack.lab.studies.study import Memory, Point, Study, sweep_of, tmaze
from adastack.lab.studies.study_figures import analysis, best_model, tested_values

NAME = "MLP"
KEPT = {"keep_best": True}
MODELS = {"success": "last weights", "best_success": "best weights"}
READING = "the checkpoint that earned most in training is tested, as in the authors' code"

MORE = 85
"""Seeds of AS(2): four of the first ten succeeded, which does not say whether most do."""


def _point(length: int, test: str) -> Point:
    task = tmaze("passive", length)
    memories = (
        Memory("AS(κ)", "adaptive", 2, KEPT, seeds=MORE),
        Memory("FS(k*)", "frame", length, KEPT),
    )
    return Point(NAME, task, memories, (task, test))


STUDY = Study("network", (_point(LENGTH, LONG),), smoke=(_point(SMOKE_LENGTH, SMOKE_LONG),))


def analyse(results: Results) -> Analysis:
    """Success of both models of each seed, where it was trained and in a far longer maze."""
    panels, rows = [], []
    for point in STUDY.shown(results):
        for test in point.tests:
            groups: dict[str, dict[str, Floats]] = {}
            for memory in point.memories:
                found = {
                    words: tested_values(results, STUDY, point, memory, test, metric)
                    for metric, words in MODELS.items()
                }
                groups[memory.label] = found
                best = best_model(results, STUDY, point, memory, test, "best_success")
                rows.append([test, memory.label, *map(_words, found.values()), _percent(best)])
            panels.append(Panel(f"Success in {test}", groups, "memory"))
    caption = "Success of the last and of the best weights of each seed, greedy."
    header = ["tested in", "memory", *MODELS.values(), "best weights of the best seed"]
    return analysis(
        [Table("models", header, rows, caption)],
        [Figure("models", caption, figures.bars(panels))] if panels else [],
    )


def _words(values: Floats) -> str | None:
    if not len(values):
        return None
    found = summary(values)
    return f"{found.mean:.1%} ± {found.sd:.1%} ({len(values)} seeds)"


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"


def _claim(name: str, says: str, check: Check, needed: str) -> Claim:
    where = "Figure 1; Table 4"
    return Claim(f"best-checkpoint-{name}", says, where, all_of([check], needed), reading=READING)


CLAIMS = (
    _claim(
        "adaptive",
        "With the published settings, the best checkpoints of AS(2) with an MLP, trained at length "
        "16, solve a maze of a million.",
        solves("best_success", STUDY.arm(NAME, "AS(κ)", LONG), PERFECT),
        "more than half of the seeds succeed in 99% of the attempts at a million",
    ),
    _claim(
        "frame",
        "The best checkpoints of the oracle FS(16) fail at a million, too.",
        unsolved("best_success", STUDY.arm(NAME, "FS(k*)", LONG), PERFECT),
        "fewer than half of the seeds succeed in 99% of the attempts",
    ),
)
EXPERIMENT = Experiment(sweep=sweep_of([STUDY]), analyse=analyse, claims=CLAIMS)
