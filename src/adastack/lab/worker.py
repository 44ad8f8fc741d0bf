"""A worker: a process that computes jobs, one after the other, until its input ends.

It reads from standard input: the store's folder, then a job a line, and answers each on standard
output. It ends with its input, in the middle of a job if need be: whatever ends the process that
gives it jobs ends the worker, too, and every file is written whole. `adastack.lab.fork_server`
starts it.
"""

from __future__ import annotations

import errno
import json
import os
import queue
import resource
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Literal

from adastack.files import write_json
from adastack.lab.execute import perform
from adastack.lab.job import Job
from adastack.lab.manifest import FAILURE, as_document, job_from
from adastack.lab.reporter import Reporter
from adastack.lab.store import Busy, Store
from adastack.tasks.registry import import_module, user_folders

ONE_THREAD = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
"""One job, one core: jobs run side by side instead. NPROC is what XLA counts its threads by."""
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}
"""Errors that would make every further job fail as well."""


@dataclass(frozen=True)
class Ending:
    """How an attempt at a job ended."""

    status: Literal["finished", "reused", "failed", "busy", "died", "unwritable"]
    """``reused``: another process had finished it meanwhile. ``died``: the worker is gone."""
    reason: str = ""
    peak_bytes: int = 0
    """The most memory that the worker ever held."""


def attempt(store: Store, job: Job) -> Ending:
    """Computes a job, or returns why not; a failure is also written to its folder."""
    try:
        for name in job.imports:
            import_module(name)
        with store.claim(job) as folder:
            if store.is_finished(job):
                return Ending("reused")
            try:
                with Reporter(job, folder) as progress:
                    perform(job, folder, progress)
            except Exception as error:
                if not _unwritable(error):
                    with suppress(OSError):
                        write_json(folder / FAILURE, {"reason": _one_line(error)})
                raise
    except Busy as error:
        return Ending("busy", str(error))
    except Exception as error:
        return Ending("unwritable" if _unwritable(error) else "failed", _one_line(error))
    return Ending("finished")


def environment() -> dict[str, str]:
    """The environment of a worker: one thread, and the modules that its parent sees.

    Not those of the current folder, which ``python -m`` puts first: a ``numba.py`` there is not
    ours to run. Where the user has imported modules from it by name, it comes last.
    """
    flags = " ".join(filter(None, (os.environ.get("XLA_FLAGS"), ONE_THREAD["XLA_FLAGS"])))
    here = os.getcwd()
    asked = map(os.path.abspath, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    if here not in asked:
        path = [entry for entry in path if entry != here]
    path += [here] if here in user_folders else []
    return {**ONE_THREAD, "XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}


def _unwritable(error: BaseException | None) -> bool:
    """Whether an error is due to a full disk or the like."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in UNWRITABLE:
            return True
        error = error.__cause__ or error.__context__
    return False


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | RuntimeError | OSError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def encode(value: Job | Ending) -> bytes:
    """A job or its ending as a line of JSON."""
    document = as_document(value) if isinstance(value, Job) else asdict(value)
    return (json.dumps(document) + "\n").encode()


def decode_ending(line: bytes) -> Ending:
    """The ending in a line of JSON."""
    return Ending(**json.loads(line))


def main() -> None:
    """Takes jobs from standard input until it ends."""
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    store = Store(json.loads(lines.get()))
    while True:
        job = job_from(json.loads(lines.get()))
        answers.write(encode(replace(attempt(store, job), peak_bytes=_peak_bytes())))


def _peak_bytes() -> int:
    # On Linux ru_maxrss begins with what the process that started this one held.
    status = Path("/proc/self/status")
    if status.exists():
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(held.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _listen(source: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)
