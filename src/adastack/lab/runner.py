"""Runs jobs: finished ones are reused, interrupted ones resumed, failures reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from adastack.files import write_json
from adastack.lab.archive import Archive
from adastack.lab.job import Job, merged
from adastack.lab.local import LocalPool
from adastack.lab.manifest import FAILURE
from adastack.lab.speed_estimates import SpeedEstimates
from adastack.lab.store import Busy, Store, StoreError
from adastack.lab.worker import Ending

BACKENDS = ("local", "ray")
STALL_SECONDS = 300.0
"""A job without progress or heartbeat for this long is killed and resumed."""
DEATHS = 3
"""A job whose worker died this often has failed."""
TICK_SECONDS = 1.0


class Pool(Protocol):
    """Workers, here or elsewhere."""

    @property
    def slots(self) -> int:
        """How many jobs to give at a time."""

    def start(self, job: Job) -> None:
        """Begins a job."""

    def wait(self, seconds: float) -> list[tuple[Job, Ending]]:
        """Jobs that ended; waits for one, but not longer than asked."""

    def kill(self, job: Job) -> None:
        """Kills the worker of a job; `wait` then says that it died."""

    def close(self) -> None:
        """Ends all workers, whatever they do."""


@dataclass
class Outcome:
    """How the jobs ended, by their addresses."""

    finished: list[str] = field(default_factory=list)
    """Computed now."""
    failed: dict[str, str] = field(default_factory=dict)
    """With the reason."""
    skipped: list[str] = field(default_factory=list)
    """Finished before, or by another process meanwhile."""


@dataclass
class Board:
    """The state of all jobs while they run."""

    store: Store
    jobs: list[Job]
    """All that were asked for, each once."""
    speeds: SpeedEstimates
    slots: int = 1
    """How many run at a time."""
    outcome: Outcome = field(default_factory=Outcome)
    waiting: list[Job] = field(default_factory=list)
    running: dict[str, Job] = field(default_factory=dict)

    def seconds_left(self) -> float:
        """How long the rest will take, if all workers are kept busy."""
        rest = [self.speeds.seconds_left(job) for job in self.waiting]
        rest += [self._rest(job) for job in self.running.values()]
        return max([sum(rest) / max(self.slots, 1), *rest[len(self.waiting) :]], default=0.0)

    def _rest(self, job: Job) -> float:
        progress = self.store.progress(job)
        if progress and progress["rate"] and progress["total"]:
            seeds = len(job.settings["seeds"])
            return float((progress["total"] - progress["step"]) * seeds / progress["rate"])
        return self.speeds.seconds_left(job)


OnChange = Callable[[Board], None]


def run(
    jobs: Iterable[Job],
    store: Store,
    *,
    backend: str = "local",
    workers: int | None = None,
    address: str | None = None,
    archive: Archive | None = None,
    on_change: OnChange | None = None,
) -> Outcome:
    """Computes jobs that are not in the store yet, nor in an archive.

    Args:
        jobs: The jobs; equal ones are computed once.
        store: Where the results go.
        backend: ``"local"``: processes on this machine. ``"ray"``: a Ray cluster, of which every
            machine sees the store's folder.
        workers: How many jobs run at a time; by default one for each core.
        address: Where the Ray cluster is; by default one is started on this machine.
        archive: What was computed before; such jobs count as finished.
        on_change: Called about once a second with the state of all jobs.

    Raises:
        StoreError: If the store cannot be written; no job is left broken.

    Example:
        >>> import tempfile
        >>> store = Store(tempfile.mkdtemp())
        >>> outcome = run([Job("kappa", {"task": "xormaze"})], store, workers=1)
        >>> store.result(Job("kappa", {"task": "xormaze"}))["kappa"]
        3
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, actual: {backend!r}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, actual: {workers}")
    store.prepare()
    board = _board_of(merged(jobs), store, archive)
    if not board.waiting:
        return board.outcome
    pool = _pool(backend, store, workers, address)
    try:
        _Runner(board, pool, on_change or (lambda board: None)).run()
    finally:
        pool.close()
    return board.outcome


def _board_of(jobs: list[Job], store: Store, archive: Archive | None) -> Board:
    """Which jobs are finished, and which are to be computed."""
    board = Board(store, jobs, SpeedEstimates(store, archive))
    for job in jobs:
        if (archive and archive.is_finished(job)) or store.is_finished(job):
            board.outcome.skipped.append(job.address)
        else:
            board.waiting.append(job)
    # The longest first, so that no worker is left with a long job when the others are done.
    board.waiting.sort(key=board.speeds.seconds_left, reverse=True)
    return board


def _pool(backend: str, store: Store, workers: int | None, address: str | None) -> Pool:
    if backend == "local":
        return LocalPool(store, workers)
    from adastack.lab.on_ray import RayPool

    return RayPool(store, workers, address)


class _Runner:
    """The loop: starts jobs, collects how they ended, kills those that are stalled."""

    def __init__(self, board: Board, pool: Pool, on_change: OnChange) -> None:
        self.board, self.pool, self.on_change = board, pool, on_change
        self.deaths: dict[str, int] = {}
        self.seen: dict[str, tuple[Any, float]] = {}

    def run(self) -> None:
        """Runs until no job is left."""
        board = self.board
        while board.waiting or board.running:
            board.slots = self.pool.slots
            self._give()
            self.on_change(board)
            if not board.running:
                time.sleep(TICK_SECONDS)  # Other processes hold all that is left.
                continue
            for job, ending in self.pool.wait(TICK_SECONDS):
                del board.running[job.address]
                self._settle(job, ending)
            self._kill_stalled()
        self.on_change(board)

    def _give(self) -> None:
        """Gives waiting jobs to free workers; those that another process holds keep waiting."""
        board, held = self.board, []
        while board.waiting and len(board.running) < self.pool.slots:
            job = board.waiting.pop(0)
            if board.store.is_held(job):
                held.append(job)
                continue
            board.running[job.address] = job
            self.seen[job.address] = (None, time.monotonic())
            self.pool.start(job)
        board.waiting += held

    def _settle(self, job: Job, ending: Ending) -> None:
        outcome, address = self.board.outcome, job.address
        if ending.status == "finished":
            outcome.finished.append(address)
            self.board.speeds.learn([job])
        elif ending.status == "reused":
            outcome.skipped.append(address)
        elif ending.status == "failed":
            outcome.failed[address] = ending.reason
        elif ending.status == "unwritable":
            raise StoreError(
                f"cannot write to the store {self.board.store.root}: {ending.reason}; "
                "what is finished is kept, and the same command goes on"
            )
        elif ending.status == "busy":
            self.board.waiting.append(job)
        else:
            self._retry_or_fail(job, ending.reason)

    def _retry_or_fail(self, job: Job, reason: str) -> None:
        """After its worker died: resumes the job, unless that has happened too often."""
        deaths = self.deaths[job.address] = self.deaths.get(job.address, 0) + 1
        if deaths < DEATHS:
            self.board.waiting.insert(0, job)
            return
        reason = f"{reason}, {deaths} times"
        self.board.outcome.failed[job.address] = reason
        with suppress(Busy, OSError), self.board.store.claim(job) as folder:
            write_json(folder / FAILURE, {"reason": reason})

    def _kill_stalled(self) -> None:
        for address, job in self.board.running.items():
            progress, now = self.board.store.progress(job), time.monotonic()
            # A job that no process holds has not begun.
            if progress != self.seen[address][0] or not self.board.store.is_held(job):
                self.seen[address] = (progress, now)
            elif now - self.seen[address][1] > STALL_SECONDS:
                self.seen[address] = (progress, now)
                self.pool.kill(job)
