"""The progress of jobs: a live table on a terminal, elsewhere a line for each job that ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from adastack.lab.job import Job
from adastack.lab.runner import Board, OnChange
from adastack.settings import printable

SHOWN = ("success", "return", "reward_rate", "memory_regret")


@contextmanager
def watch_jobs() -> Iterator[OnChange]:
    """Shows the progress of jobs on standard error; what it yields is `run`'s ``on_change``."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        lines = _Lines()

        def refresh(board: Board) -> None:
            for reason in lines.failures(board):
                live.console.print(printable(reason), style="red", markup=False, highlight=False)
            live.update(table_of(board), refresh=True)

        yield refresh


def table_of(board: Board) -> Table:
    """The running jobs, and in the title how many there are in all."""
    table = Table("job", "seeds", "done", "steps/s", "now", "left", title=headline(board))
    for job in board.running.values():
        table.add_row(*(escape(printable(text)) for text in _row(board.store.progress(job), job)))
    return table


def headline(board: Board) -> str:
    """How many jobs are finished, failed, running and waiting, in a line."""
    outcome = board.outcome
    counts = {
        "finished": len(outcome.finished) + len(outcome.skipped),
        "failed": len(outcome.failed),
        "running": len(board.running),
        "waiting": len(board.waiting),
    }
    words = [f"{count} {name}" for name, count in counts.items() if count]
    left = f", about {duration(board.seconds_left())} left" if board.running else ""
    return f"{len(board.jobs)} jobs: {', '.join(words)}{left}"


def label(job: Job) -> str:
    """A short description of a job.

    Example:
        >>> label(Job("kappa", {"task": "xormaze", "memory": "frame"}))
        'xormaze, frame, kappa'
    """
    s = job.settings
    overrides = [f"{name} {value}" for name, value in s.get("overrides", {}).items()]
    memory = " ".join(str(s[name]) for name in ("memory", "stack_size") if name in s)
    kind = s["algo"] if job.kind == "train" else job.kind
    words = (s.get("task"), memory, kind, s.get("preset"), *overrides)
    return ", ".join(str(word) for word in words if word)


def duration(seconds: float) -> str:
    """A time in readable units.

    Example:
        >>> [duration(s) for s in (0.42, 59.6, 61, 7300)]
        ['0.4 s', '1 min', '1 min', '2 h 2 min']
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _row(progress: dict[str, Any] | None, job: Job) -> list[str]:
    seeds = span(job.settings.get("seeds", ()))
    if not progress or not progress["step"]:
        return [label(job), seeds, "starts" if job.steps else "computes", "", "", ""]
    if "tests" in progress["numbers"]:
        test = "test {test:.0f} of {tests:.0f}".format(**progress["numbers"])
        return [label(job), seeds, test, "", "", ""]
    numbers = ((name, progress["numbers"].get(name)) for name in SHOWN)
    now = "  ".join(f"{name} {value:.3g}" for name, value in numbers if value is not None)
    step, total, rate = (progress[name] for name in ("step", "total", "rate"))
    share = f"{step / total:.0%}" if total else str(step)
    if not rate or not total:
        return [label(job), seeds, share, "", now, ""]
    left = (total - step) * len(job.settings["seeds"]) / rate
    return [label(job), seeds, share, f"{rate:,.0f}", now, duration(max(left, 0.0))]


def span(seeds: Sequence[int]) -> str:
    """A range of seeds: ``0-4``."""
    return f"{min(seeds)}-{max(seeds)}" if len(seeds) > 1 else "".join(map(str, seeds))


class _Lines:
    """A line on standard error for each job that ended."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def __call__(self, board: Board) -> None:
        jobs = {job.address: job for job in board.jobs}
        for address in board.outcome.finished:
            if self._first(address):
                spent = duration(board.store.document(jobs[address])["seconds"])
                self._print(board, f"{label(jobs[address])}: finished in {spent}")
        for text in self.failures(board):
            self._print(board, text)

    def failures(self, board: Board) -> list[str]:
        """Failures that have not been printed yet."""
        jobs = {job.address: job for job in board.jobs}
        failed = board.outcome.failed.items()
        new = [(address, reason) for address, reason in failed if self._first(address)]
        return [f"{label(jobs[address])}: failed: {reason}" for address, reason in new]

    def _first(self, address: str) -> bool:
        new = address not in self._printed
        self._printed.add(address)
        return new

    def _print(self, board: Board, text: str) -> None:
        outcome = board.outcome
        ended = len(outcome.finished) + len(outcome.failed) + len(outcome.skipped)
        line = printable(f"{ended} of {len(board.jobs)}: {text}")
        print(line, file=sys.stderr, flush=True)
