"""The archive: what finished jobs found, small enough for the repository, without their weights.

It is read like a store, and filled from stores and other archives by `adastack.lab.archiving`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from adastack.files import MAX_DOCUMENT, DamagedFileError
from adastack.folders import Folder
from adastack.lab.archive_file import arrays, decode, job_of, rows_of
from adastack.lab.job import Evaluation, Job
from adastack.lab.manifest import Document, outdated, outdated_test

EVIDENCE = Path("results/evidence")
"""Where the paper's archive is in the repository."""
SUFFIX = ".json"


class Archive:
    """Finished jobs in files.

    A file that is damaged, or whose job no longer means what it did, is never used; it is named
    in `damaged` or `changed` once it has been looked at.

    Args:
        root: The folder; it need not exist.

    Example:
        >>> Archive("nowhere").is_finished(Job("kappa", {"task": "xormaze"}))
        False
    """

    def __init__(self, root: str | Path = EVIDENCE) -> None:
        self.root = Path(root)
        self.damaged: dict[str, str] = {}
        """What is wrong with a file, by its address."""
        self.changed: dict[str, str] = {}
        """Why a job, or a test of it, no longer counts, by its address."""
        self._bodies: dict[str, Document | None] = {}

    def path(self, address: str) -> Path:
        """The file of a job."""
        return self.root / f"{address}{SUFFIX}"

    def addresses(self) -> list[str]:
        """The addresses of all files, in order."""
        return sorted(path.stem for path in self.root.glob(f"*{SUFFIX}") if _is_address(path.stem))

    def body(self, address: str) -> Document | None:
        """What is known of a job that still means the same; None if nothing is."""
        if address not in self._bodies:
            self._bodies[address] = self._read(address)
        return self._bodies[address]

    def forget(self, address: str) -> None:
        """Has a file read again that was written."""
        for known in (self._bodies, self.damaged, self.changed):
            known.pop(address, None)

    def jobs(self) -> list[Job]:
        """Every job that counts, with its tests."""
        bodies = (self.body(address) for address in self.addresses())
        return [job_of(body) for body in bodies if body is not None]

    def is_finished(self, job: Job) -> bool:
        """Whether a job and all the tests that are asked for are here."""
        body = self.body(job.address)
        if body is None:
            return False
        # All are looked at, so that each one that has changed is known.
        return sum(not self._tested(body, job, test) for test in job.evaluate) == 0

    def _tested(self, body: Document, job: Job, test: Evaluation) -> bool:
        if test.address not in body.get("tests", {}):
            return False
        reason = outdated_test(body, test)
        if reason is not None:
            self.changed[job.address] = f"tested on {test.task}: {reason}"
        return reason is None

    def document(self, job: Job) -> Document:
        """All that is known of a job.

        Raises:
            KeyError: If nothing is.
        """
        body = self.body(job.address)
        if body is None:
            raise KeyError(f"{job.address} is not in the archive {self.root}")
        return body

    def result(self, job: Job) -> dict[str, Any]:
        """What was computed."""
        result: dict[str, Any] = self.document(job)["result"]
        return {**result, "seeds": rows_of(result["seeds"])} if job.kind == "train" else result

    def means(self, job: Job) -> dict[str, NDArray[Any]]:
        """Means over a whole training: see `adastack.lab.curves.curve_means`."""
        return arrays(self.document(job)["means"])

    def curves(self, job: Job) -> dict[str, NDArray[Any]]:
        """The curves of a training as figures draw them."""
        return arrays(self.document(job)["curves"])

    def evaluation(self, job: Job, evaluation: Evaluation) -> dict[str, Any]:
        """A test of a training; its ``seeds`` has a row for each."""
        test = self.document(job)["tests"][evaluation.address]
        return {"evaluation": test["evaluation"], "seeds": rows_of(test["seeds"])}

    def _read(self, address: str) -> Document | None:
        path, place = self.path(address), Folder(self.root)
        if not place.has(path.name):
            return None
        try:
            body = decode(place.read(path.name, MAX_DOCUMENT))
            job = job_of(body)
        except DamagedFileError as error:
            self.damaged[address] = f"{path}: {error}"
            return None
        reason = outdated(body, job)
        if job.address != address:
            reason = f"its settings are those of {job.address}"
        if reason is not None:
            self.changed[address] = reason
            return None
        return body


def _is_address(name: str) -> bool:
    return re.search(r"-[0-9a-f]{16}$", name) is not None
