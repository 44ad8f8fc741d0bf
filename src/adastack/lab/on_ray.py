"""Jobs on a Ray cluster, of which every machine sees the store's folder.

Ray only says where a job runs. That none is lost and none runs twice is left to the store's locks
and to the runner, as on one machine: a task whose worker dies is given again and goes on from its
checkpoint.
"""

from __future__ import annotations

import os
from contextlib import chdir, suppress
from dataclasses import asdict
from typing import Any

from adastack.extras import require
from adastack.lab.job import Job
from adastack.lab.manifest import Document, as_document, job_from
from adastack.lab.store import Store
from adastack.lab.worker import Ending, attempt, environment


class RayPool:
    """The workers of a Ray cluster, one core for each job.

    Args:
        store: The store, in a folder that all machines of the cluster see.
        workers: How many jobs run at a time; by default one for each core of the cluster.
        address: Where the cluster is; by default one is started on this machine.
    """

    def __init__(self, store: Store, workers: int | None, address: str | None) -> None:
        self._ray = require("ray", "ray")
        self._store, self._workers = store, workers
        self._mine = not self._ray.is_initialized()
        if self._mine:
            self._connect(address, workers)
        remote = self._ray.remote(num_cpus=1, max_retries=0, runtime_env=_runtime())
        self._attempt = remote(_attempt)
        self._jobs: dict[Any, Job] = {}

    def _connect(self, address: str | None, workers: int | None) -> None:
        options: dict[str, Any] = {"address": address, "log_to_driver": False}
        options |= {"logging_level": "ERROR"}
        if address is None:
            options |= {"num_cpus": workers, "include_dashboard": False}
        try:
            # Ray lets its workers import from the folder it was started in, before all others.
            with chdir(os.sep):
                self._ray.init(**options)
        except ConnectionError as error:
            raise ValueError(f"no Ray cluster at {address}: {error}") from None

    @property
    def slots(self) -> int:
        """How many jobs to give at a time; a cluster may grow."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def start(self, job: Job) -> None:
        """Begins a job."""
        task = self._attempt.remote(str(self._store.root), as_document(job), os.getcwd())
        self._jobs[task] = job

    def wait(self, seconds: float) -> list[tuple[Job, Ending]]:
        """Jobs that ended; waits for one, but not longer than asked."""
        first, _ = self._ray.wait(list(self._jobs), timeout=seconds)
        if not first:
            return []
        ready, _ = self._ray.wait(list(self._jobs), num_returns=len(self._jobs), timeout=0)
        return [(self._jobs.pop(task), self._ending(task)) for task in {*first, *ready}]

    def _ending(self, task: Any) -> Ending:
        errors = self._ray.exceptions
        try:
            return Ending(**self._ray.get(task))
        except errors.RayTaskError as error:
            return Ending("failed", " ".join(str(error.cause).split()))
        except errors.RayError as error:
            return Ending("died", f"its worker died ({type(error).__name__})")

    def kill(self, job: Job) -> None:
        """Kills the worker of a job; `wait` then says that it died."""
        for task, its in self._jobs.items():
            if its == job:
                self._ray.cancel(task, force=True)

    def close(self) -> None:
        """Ends what still runs, and the connection if it is ours."""
        for task in self._jobs:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(task, force=True)
        self._jobs = {}
        if self._mine:
            self._ray.shutdown()


def _runtime() -> dict[str, Any]:
    return {"env_vars": environment()}


def _attempt(root: str, document: Document, here: str) -> dict[str, Any]:
    """What a Ray worker does; paths in a job are meant from where it was given."""
    with suppress(OSError):  # Another machine need not have that folder.
        os.chdir(here)
    return asdict(attempt(Store(root), job_from(document)))
