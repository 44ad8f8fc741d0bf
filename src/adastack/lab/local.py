"""A pool of worker processes on this machine."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import IO

from adastack.lab.job import Job
from adastack.lab.store import Store
from adastack.lab.worker import Ending, decode_ending, encode, environment

MOST_BYTES = 2_000_000_000
"""Compiled programs pile up in a process; one that has grown to this is replaced after its job."""


class LocalPool:
    """Processes that compute jobs of a store; one that dies is replaced when it is needed."""

    def __init__(self, store: Store, workers: int | None = None) -> None:
        self.slots = workers or available_cores()
        self._store = store
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def start(self, job: Job) -> None:
        """Gives a job to a worker that has none."""
        worker = self._idle.pop() if self._idle else _Worker(self._store)
        self._busy.append(worker)
        worker.take(job)

    def wait(self, seconds: float) -> list[tuple[Job, Ending]]:
        """Jobs that ended; waits for one, but not longer than asked."""
        ready, _, _ = select.select(self._busy, [], [], seconds)
        ended = []
        for worker in ready:
            self._busy.remove(worker)
            job, ending = worker.answer()
            if ending.status != "died" and ending.peak_bytes < MOST_BYTES:
                self._idle.append(worker)
            else:
                worker.kill()
            ended.append((job, ending))
        return ended

    def kill(self, job: Job) -> None:
        """Kills the worker of a job; `wait` then says that it died."""
        for worker in self._busy:
            if worker.job == job:
                worker.process.kill()

    def close(self) -> None:
        """Ends all workers, whatever they do."""
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle, self._busy = [], []


class _Worker:
    def __init__(self, store: Store) -> None:
        self.job: Job | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # A session of its own: Ctrl-C is for the parent, which then ends its workers.
        self.process = subprocess.Popen(
            [sys.executable, "-m", "adastack.lab.worker", str(store.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            env={**os.environ, **environment()},
            start_new_session=True,
        )

    def fileno(self) -> int:
        """What `select` watches: the worker's answers."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def take(self, job: Job) -> None:
        """Begins a job; if the worker is dead already, its answer will say so."""
        self.job = job
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(encode(job))

    def answer(self) -> tuple[Job, Ending]:
        """The job and how it ended."""
        assert self.process.stdout is not None
        assert self.job is not None
        line = self.process.stdout.readline()
        job, self.job = self.job, None
        if line.endswith(b"\n"):
            return job, decode_ending(line)
        return job, Ending("died", self._exit_reason())

    def _exit_reason(self) -> str:
        code = self.process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"its worker died ({how})" + (f": {said[-1]}" if said and code > 0 else "")

    def kill(self) -> None:
        """Ends the process and waits until it is gone."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None:
                stream.close()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
