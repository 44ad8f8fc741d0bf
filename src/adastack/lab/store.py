"""The store: one folder per job, locked while it is written, verified when it is read.

A job's folder, named by its address, holds

- ``job.json``: what is asked for;
- ``run/``: a training with its curves, as `adastack.runs` keeps it, that can be resumed;
- ``evaluations/``: tests of what was trained;
- ``progress.json``: how far it is, while it is computed;
- ``failure.json``: why it failed, if it did;
- ``done.json``: the result and the checksum of every file; written last.

Its lock is a file of the same name in ``.locks``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from adastack.files import DamagedFileError, read_json, write_json
from adastack.folders import Folder
from adastack.lab.curves import curve_means, thinned
from adastack.lab.job import Evaluation, Job, merged
from adastack.lab.manifest import (
    DONE,
    EVALUATIONS,
    FAILURE,
    JOB,
    PROGRESS,
    SCHEMAS,
    Document,
    as_document,
    check_files,
    evaluation_file,
    job_from,
    missing_evaluations,
    read_manifest,
)
from adastack.process.events import check_windows, saved_curves
from adastack.runs import CHECKPOINT

Status = Literal["missing", "running", "resumable", "finished", "failed", "damaged"]
ROOT = Path("lab")
"""The default folder of results."""
LOCKS = ".locks"
# Looking whether a lock is held takes it for an instant; a claim outlasts that.
CLAIM_TRIES, CLAIM_PAUSE = 10, 0.01


class Busy(RuntimeError):
    """A job that another process holds."""


class StoreError(OSError):
    """A store that cannot be written."""


class Store:
    """Results of jobs, in folders.

    Example:
        >>> import tempfile
        >>> store = Store(tempfile.mkdtemp())
        >>> store.status(Job("kappa", {"task": "xormaze"}))
        'missing'
    """

    def __init__(self, root: str | Path = ROOT) -> None:
        self.root = Path(root).absolute()

    def folder(self, job: Job) -> Path:
        """Where a job's results are."""
        return self.root / job.address

    def prepare(self) -> None:
        """Makes the folder.

        Raises:
            StoreError: If it cannot be written.
        """
        try:
            (self.root / LOCKS).mkdir(parents=True, exist_ok=True)
            write_json(self.root / LOCKS / ".writable", {})
            (self.root / LOCKS / ".writable").unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error.strerror) from None

    def check(self) -> None:
        """Looks whether the folder could be made or written, and leaves all as it is.

        Raises:
            StoreError: If not.
        """
        nearest = next(path for path in (self.root, *self.root.parents) if path.exists())
        if not nearest.is_dir():
            raise self._unwritable(os.strerror(errno.ENOTDIR))
        if not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
            raise self._unwritable(os.strerror(errno.EACCES))

    def _unwritable(self, reason: str | None) -> StoreError:
        return StoreError(f"cannot write to the store {self.root}: {reason}")

    @contextmanager
    def claim(self, job: Job) -> Iterator[Path]:
        """Holds a job, so that nobody else computes it; gives its folder.

        The lock goes when its process does, however that ends.

        Raises:
            Busy: If another process holds it.
            DamagedFileError: If there is a link in the way: what it leads to is not the store's.
        """
        with self._lock(job.address):
            place = Folder(self.root).folder(job.address, make=True)
            place.check_no_links()
            place.remove_temporaries()
            for name in (JOB, DONE, PROGRESS, FAILURE):
                if (place.path / name).is_dir():  # It could not be replaced by the document.
                    shutil.rmtree(place.path / name)
            known = self._known(job)
            asked = merged([*known, job])[0]
            if not known or known[0] != asked:
                write_json(place.path / JOB, as_document(asked))
            yield place.path

    def status(self, job: Job) -> Status:
        """How a job stands; all its files are verified."""
        if self.is_held(job):
            return "running"
        folder = self.folder(job)
        if not os.path.lexists(folder):
            return "missing"
        try:
            if self._complete(job):
                return "finished"
        except DamagedFileError:
            return "damaged"
        return "failed" if (folder / FAILURE).exists() else "resumable"

    def is_finished(self, job: Job) -> bool:
        """Whether all that is asked for is there and whole."""
        try:
            return self._complete(job)
        except DamagedFileError:
            return False

    def _complete(self, job: Job) -> bool:
        document = self._manifest(job)
        if document is None:
            return False
        check_files(self.folder(job), document)
        return not missing_evaluations(document, job)

    def is_held(self, job: Job) -> bool:
        """Whether some process computes the job now."""
        try:
            handle = Folder(self.root).open(f"{LOCKS}/{job.address}", os.O_RDONLY)
        except (FileNotFoundError, DamagedFileError):
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def result(self, job: Job) -> dict[str, Any]:
        """What was computed.

        Raises:
            DamagedFileError: If it is not what was written.
            KeyError: If the job has not finished.
        """
        result: dict[str, Any] = self.document(job)["result"]
        return result

    def document(self, job: Job) -> Document:
        """All that ``done.json`` says: job, result, versions, seconds, and its files' checksums."""
        document = self._manifest(job)
        if document is None:
            raise KeyError(f"{job.address} has not finished")
        return document

    def _manifest(self, job: Job) -> Document | None:
        try:
            place = Folder(self.root).folder(job.address)
        except FileNotFoundError:
            return None
        return read_manifest(place.path, job)

    def metrics(self, job: Job) -> dict[str, NDArray[Any]]:
        """The curves of a training: arrays (seeds, points), and ``step`` (points,)."""
        document, folder = self.document(job), self.folder(job)
        check_files(folder, document, [n for n in document["files"] if n.startswith("run/")])
        # The manifest vouches for the files, so that a run's format may change and its curves last.
        checkpoint = read_json(folder / "run" / CHECKPOINT)
        slot = checkpoint.get("slot") if isinstance(checkpoint, dict) else None
        name = f"run/checkpoint-{slot}.safetensors"
        if name not in document["files"]:
            raise DamagedFileError(f"{folder / name} is missing")
        arrays = Folder(folder).arrays(name, document["files"][name])
        check_windows(arrays)
        return saved_curves(arrays)

    def means(self, job: Job) -> dict[str, NDArray[Any]]:
        """Means over a whole training: see `curve_means`."""
        return curve_means(self.metrics(job))

    def curves(self, job: Job) -> dict[str, NDArray[Any]]:
        """The curves of a training as figures draw them: see `thinned`."""
        return thinned(self.metrics(job))

    def evaluation(self, job: Job, evaluation: Evaluation) -> dict[str, Any]:
        """A test of a training; its ``seeds`` has a row for each.

        Raises:
            KeyError: If it has not been made.
        """
        document, name = self.document(job), evaluation_file(evaluation)
        if name not in document["files"]:
            raise KeyError(f"{job.address} was not tested on {evaluation.task}")
        check_files(self.folder(job), document, [name])
        return Folder(self.folder(job)).plain_document(name, SCHEMAS[EVALUATIONS])

    def reason(self, job: Job) -> str | None:
        """Why a job failed, if it did."""
        found = self._read(job, FAILURE)
        return None if found is None else str(found["reason"])

    def progress(self, job: Job) -> dict[str, Any] | None:
        """How far a job is: step, total, rate, numbers; None if it has not begun."""
        found = self._read(job, PROGRESS)
        return None if found is None else {"rate": None, "numbers": {}, **found}

    def share_left(self, job: Job) -> float:
        """The part of a training that is still to be made; none if it lacks tests alone."""
        with suppress(DamagedFileError):
            if self._manifest(job) is not None:
                return 0.0
        said = self.progress(job) or {}
        return 1.0 - said.get("step", 0) / said["total"] if said.get("total") else 1.0

    def jobs(self) -> list[Job]:
        """Every job that has a folder, in the order of their names."""
        found = []
        for folder in self.folders():
            with suppress(DamagedFileError, OSError):
                found.append(self._job(folder.name))
        return found

    def folders(self) -> list[Path]:
        """The folders of all jobs, also of those that cannot be read.

        Raises:
            OSError: If the store itself cannot.
        """
        if not self.root.is_dir():
            return []
        found = (path for path in self.root.iterdir() if path.is_dir() or path.is_symlink())
        return sorted(path for path in found if _is_job(path.name))

    def remove(self, address: str) -> None:
        """Removes a job's folder, if there is one.

        Raises:
            Busy: If some process computes it.
        """
        folder = self.root / address
        if folder not in self.folders():
            raise ValueError(f"expected a job of {self.root}, actual: {address}")
        with self._lock(address):
            if folder.is_symlink():  # What it leads to is not the store's.
                folder.unlink()
                return
            with suppress(IsADirectoryError):
                (folder / DONE).unlink(missing_ok=True)  # From now on it is not finished.
            shutil.rmtree(folder)

    def _known(self, job: Job) -> list[Job]:
        """The job as it stands there, with the evaluations of earlier calls."""
        with suppress(DamagedFileError, OSError):
            return [self._job(job.address)]
        return []

    def _job(self, address: str) -> Job:
        """The job of a folder, whose name is the checksum of its settings.

        Raises:
            DamagedFileError: If it is none, or another's.
        """
        place = Folder(self.root).folder(address)
        job = job_from(place.plain_document(JOB, SCHEMAS[JOB]))
        if job.address != address:
            raise DamagedFileError(f"{place.path / JOB}: it is another job's, {job.address}")
        return job

    def _read(self, job: Job, name: str) -> Document | None:
        """What a document of a job says now; nothing, if it is not there or cannot be read."""
        with suppress(DamagedFileError, OSError):
            return Folder(self.root).folder(job.address).plain_document(name, SCHEMAS[name])
        return None

    @contextmanager
    def _lock(self, address: str) -> Iterator[None]:
        (self.root / LOCKS).mkdir(parents=True, exist_ok=True)
        handle = Folder(self.root).open(f"{LOCKS}/{address}", os.O_RDWR | os.O_CREAT)
        try:
            for attempt in range(CLAIM_TRIES):
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if attempt == CLAIM_TRIES - 1:
                        raise Busy(f"{address} is held by another process") from None
                    time.sleep(CLAIM_PAUSE)
            yield
        finally:
            os.close(handle)


def _is_job(name: str) -> bool:
    """Whether a folder has a job's name; others are somebody's, and not ours to list or remove."""
    return re.search(r"-[0-9a-f]{16}$", name) is not None
