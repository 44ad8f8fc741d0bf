"""A pool of worker processes on this machine."""

from __future__ import annotations

import json
import os
import select
import signal
import tempfile
from contextlib import suppress
from typing import IO

from adastack.lab.fork_server import start_worker
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
                worker.close()
            ended.append((job, ending))
        return ended

    def kill(self, job: Job) -> None:
        """Kills the worker of a job; `wait` then says that it died."""
        for worker in self._busy:
            if worker.job == job:
                worker.kill()

    def close(self) -> None:
        """Ends all workers, whatever they do."""
        for worker in (*self._idle, *self._busy):
            worker.close()
        self._idle, self._busy = [], []


class _Worker:
    """A process that computes jobs, one at a time."""

    def __init__(self, store: Store) -> None:
        self.job: Job | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        jobs, give = os.pipe()
        hear, answers = os.pipe()
        self._jobs, self._answers = open(give, "wb", 0), open(hear, "rb", 0)  # noqa: SIM115
        try:
            self._server, self._pid = start_worker(
                {**os.environ, **environment()}, jobs, answers, self._errors.fileno()
            )
        finally:
            os.close(jobs)
            os.close(answers)
        self._code: int | None = None
        self._write(json.dumps(str(store.root)).encode() + b"\n")

    def fileno(self) -> int:
        """What `select` watches: the worker's answers."""
        return self._answers.fileno()

    def take(self, job: Job) -> None:
        """Begins a job; if the worker is dead already, its answer will say so."""
        self.job = job
        self._write(encode(job))

    def _write(self, line: bytes) -> None:
        with suppress(BrokenPipeError):
            self._jobs.write(line)

    def answer(self) -> tuple[Job, Ending]:
        """The job and how it ended."""
        assert self.job is not None
        line = self._answers.readline()
        job, self.job = self.job, None
        if line.endswith(b"\n"):
            return job, decode_ending(line)
        return job, Ending("died", f"its worker died{self._exit_reason()}")

    def _exit_reason(self) -> str:
        try:
            code = self._wait()
        except ConnectionError:
            return ""
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f" ({how})" + (f": {said[-1]}" if said and code > 0 else "")

    def _wait(self) -> int:
        if self._code is None:
            self._code = self._server.wait(self._pid)
        return self._code

    def kill(self) -> None:
        """Kills the process, unless it is known to be gone: its number may be another's by now."""
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends the process and waits until it is gone."""
        self.kill()
        with suppress(ConnectionError):
            self._wait()
        for stream in (self._jobs, self._answers, self._errors):
            stream.close()


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
