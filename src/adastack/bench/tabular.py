"""The compiled tabular learners: beside plain Python, and the paper's tabular chapter in one go."""

from __future__ import annotations

import time
from collections.abc import Iterator

from adastack.bench.figure import Figure, interleaved
from adastack.progress import watch
from adastack.tabular import Session, settings_for
from adastack.tabular.reference import ReferenceLearner, SplitMix
from adastack.tabular.session import THREADS
from adastack.tabular.settings import ValueSettings
from adastack.tasks.finite import FiniteTask
from adastack.tasks.tmaze import active_tmaze, passive_tmaze
from adastack.tasks.xormaze import xormaze

PLAIN_STEPS = 20_000
FAST_STEPS = 4_000_000
CHAPTER_STEPS = 1_000_000
CHAPTER_SEEDS = 20
LENGTHS = range(2, 7)


def measure() -> list[Figure]:
    """The figures of the tabular learners."""
    maze = passive_tmaze(length=16, continual=True)
    settings = settings_for("paper", "q")
    assert isinstance(settings, ValueSettings)
    times = interleaved(
        {
            "plain": lambda: ReferenceLearner(
                maze, "adaptive", 2, "q", settings, PLAIN_STEPS, SplitMix(0)
            ).run(),
            "one core": lambda: _train(maze, "adaptive", 2, FAST_STEPS, seeds=1),
            "all cores": lambda: _train(maze, "adaptive", 2, FAST_STEPS, seeds=THREADS),
        },
        repeats=7,
    )
    plain, alone = PLAIN_STEPS / times["plain"], FAST_STEPS / times["one core"]
    together = THREADS * FAST_STEPS / times["all cores"]
    name = "Q-learning on all cores / a plain Python dictionary loop"
    return [
        Figure(name, together / plain, "x", 1000),
        Figure("Passive-TMaze, AS(2), Q-learning with metrics, one core", alone, "steps/s", 2e7),
        Figure("the paper's tabular chapter, all seeds", _chapter(), "s", 120, at_most=True),
    ]


def chapter() -> Iterator[tuple[FiniteTask, str, int]]:
    """Every task, memory and stack size of the paper's tabular figures."""
    for length in LENGTHS:
        for task in (
            passive_tmaze(length=length, continual=True),
            active_tmaze(length=length, continual=True),
        ):
            for memory, k in (("adaptive", 2), ("frame", 2), ("frame", length), ("push_skip", 2)):
                yield task, memory, k
    for memory, k in (
        ("adaptive", 3),
        ("frame", 3),
        ("frame", 5),
        ("push_skip", 3),
        ("random", 3),
    ):
        yield xormaze(), memory, k


def _chapter() -> float:
    """Seconds for all of it, with a progress bar."""
    runs = list(chapter())
    began = time.perf_counter()
    with watch(len(runs), "tabular chapter") as progress:
        for done, (task, memory, k) in enumerate(runs, 1):
            _train(task, memory, k, CHAPTER_STEPS, CHAPTER_SEEDS)
            progress.update(done)
    return time.perf_counter() - began


def _train(task: FiniteTask, memory: str, k: int, steps: int, seeds: int) -> None:
    settings = settings_for("paper", "q")
    session = Session(task, memory, k, "q", settings, steps, range(seeds))
    session.advance(session.blocks)
