"""``progress.json``: how far a job is, and the heartbeat of its process."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from adastack.files import DamagedFileError, write_json
from adastack.folders import Folder
from adastack.lab.job import Job
from adastack.lab.manifest import PROGRESS, SCHEMAS, to_jsonable

WRITE_SECONDS = 1.0
BEAT_SECONDS = 10.0
"""How often a job without a new step still writes a heartbeat, if it uses the processor."""
BEAT_CPU = 0.1


class Reporter:
    """Writes progress to a job's folder, at most once a second, from a thread of its own."""

    def __init__(self, job: Job, folder: Path) -> None:
        self._path = folder / PROGRESS
        self._total = int(job.settings.get("steps", 0))
        self._seeds = max(1, len(job.settings.get("seeds", ())))
        self._began = time.process_time()
        self._before = seconds_before(folder)
        self._step, self._numbers = 0, dict[str, float]()
        self._first: tuple[int, float] | None = None
        self._written: tuple[int, float] = (-1, 0.0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def update(self, step: int, **numbers: float) -> None:
        """Reports the step that was reached, and metrics there."""
        if self._first is None:
            self._first = (step, time.perf_counter())
        self._step, self._numbers = step, numbers

    def __enter__(self) -> Self:
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        last = time.perf_counter()
        while not self._stop.wait(WRITE_SECONDS):
            now, cpu = time.perf_counter(), time.process_time()
            computes = now - last > BEAT_SECONDS and cpu - self._written[1] > BEAT_CPU
            if self._step != self._written[0] or computes:
                self._write()
                last = now

    def _write(self) -> None:
        self._written = (self._step, time.process_time())
        # A job goes on even if its progress cannot be written.
        with suppress(OSError):
            write_json(self._path, self._document())

    def _document(self) -> dict[str, Any]:
        now = time.perf_counter()
        rate = None
        if self._first is not None and now > self._first[1] and self._step > self._first[0]:
            rate = (self._step - self._first[0]) * self._seeds / (now - self._first[1])
        return {
            "step": self._step,
            "total": self._total,
            "rate": rate,
            "numbers": to_jsonable(self._numbers),
            "seconds": self._before + self._written[1] - self._began,
            "cpu": self._written[1],
            "pid": os.getpid(),
            "host": socket.gethostname(),
        }


def seconds_before(folder: Path) -> float:
    """The processor time a job had used before it was interrupted."""
    with suppress(DamagedFileError, OSError):
        said = Folder(folder).plain_document(PROGRESS, SCHEMAS[PROGRESS])
        return float(said.get("seconds", 0.0))
    return 0.0
