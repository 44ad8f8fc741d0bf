"""Runs of a store and of an archive, read as one."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from adastack.lab.archive import Archive
from adastack.lab.job import Evaluation, Job
from adastack.lab.manifest import Document
from adastack.lab.store import Store


class Source(Protocol):
    """Where analyses and claims find what was computed."""

    def is_finished(self, job: Job) -> bool:
        """Whether all that is asked for is there and whole."""

    def result(self, job: Job) -> dict[str, Any]:
        """What was computed."""

    def means(self, job: Job) -> dict[str, NDArray[Any]]:
        """Means over a whole training, one value per seed."""

    def curves(self, job: Job) -> dict[str, NDArray[Any]]:
        """The curves of a training as figures draw them."""

    def evaluation(self, job: Job, evaluation: Evaluation) -> dict[str, Any]:
        """A test of a training; its ``seeds`` has a row for each."""


class Evidence:
    """A store and an archive; what is archived counts, the store has the rest.

    Args:
        store: What is computed here.
        archive: What was computed before, here or elsewhere.
    """

    def __init__(self, store: Store, archive: Archive) -> None:
        self.store, self.archive = store, archive

    def is_finished(self, job: Job) -> bool:
        """Whether all that is asked for is in one of them."""
        return self.archive.is_finished(job) or self.store.is_finished(job)

    def document(self, job: Job) -> Document:
        """All that is known of a job: result, versions, machine, seconds."""
        return self._holder(job).document(job)

    def result(self, job: Job) -> dict[str, Any]:
        """What was computed."""
        return self._holder(job).result(job)

    def means(self, job: Job) -> dict[str, NDArray[Any]]:
        """Means over a whole training."""
        return self._holder(job).means(job)

    def curves(self, job: Job) -> dict[str, NDArray[Any]]:
        """The curves of a training as figures draw them."""
        return self._holder(job).curves(job)

    def evaluation(self, job: Job, evaluation: Evaluation) -> dict[str, Any]:
        """A test of a training."""
        return self._holder(job).evaluation(job, evaluation)

    def reason(self, job: Job) -> str | None:
        """Why a job failed, if it did."""
        return self.store.reason(job)

    def _holder(self, job: Job) -> Store | Archive:
        return self.archive if self.archive.is_finished(job) else self.store
