"""How long jobs take, estimated from finished ones or else from usual speeds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from contextlib import suppress

from adastack.deep.network_table import NETWORKS
from adastack.files import DamagedFileError
from adastack.lab.job import Job
from adastack.lab.store import Store
from adastack.tasks.registry import TASKS
from adastack.tasks.spec import parse_spec
from adastack.training import ALGORITHMS

USUAL = {"q": 3e6, "reinforce": 1e6}
"""Environment steps a second of tables on one core, all seeds together, where nothing was measured;
networks and worlds have theirs in their rows."""
START_SECONDS = {"deep": 8.0, "tabular": 1.0}
"""Importing and compiling."""
EXACT_SECONDS = 5.0
ALIKE = 4
"""Jobs whose steps differ by more than this factor say little about each other: a short one is all
start, a long one has none."""


class SpeedEstimates:
    """Estimates of how long jobs take.

    Example:
        >>> import tempfile
        >>> speeds = SpeedEstimates(Store(tempfile.mkdtemp()))
        >>> speeds.seconds(Job("train", {"algo": "q", "steps": 3_000_000, "seeds": [0, 1]}))
        3.0
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._measured: dict[Hashable, list[tuple[int, float]]] = {}
        self._left: dict[str, float] = {}
        self.learn(store.jobs())

    def learn(self, jobs: Iterable[Job]) -> None:
        """Takes the times of finished jobs into account."""
        for job in jobs:
            with suppress(DamagedFileError, KeyError, OSError):
                self._add(job, self._store.document(job)["seconds"])

    def _add(self, job: Job, seconds: float) -> None:
        for key in _keys(job):
            self._measured.setdefault(key, []).append((job.steps or 1, seconds))

    def measured(self, job: Job) -> float | None:
        """How long jobs like this took; None if none has finished."""
        work = job.steps or 1
        for key in _keys(job):
            known = self._measured.get(key, [])
            alike = [(n, s) for n, s in known if work / ALIKE <= n <= work * ALIKE]
            if alike:
                return work * sum(s for _, s in alike) / sum(n for n, _ in alike)
        return None

    def seconds(self, job: Job) -> float:
        """How long one core needs for a whole job."""
        found = self.measured(job)
        if found is not None:
            return found
        if not job.steps:
            return EXACT_SECONDS
        return _start(job) + job.steps / usual_rate(job)

    def share_left(self, job: Job) -> float:
        """The share of a training that was left when it was first asked for."""
        # A live table asks once a second. A waiting job makes no progress, so cache it.
        if job.address not in self._left:
            self._left[job.address] = self._store.share_left(job)
        return self._left[job.address]

    def seconds_left(self, job: Job) -> float:
        """How long one core still needs for a job that may have begun."""
        share, whole = self.share_left(job), self.seconds(job)
        return whole if share == 1 else max(share * whole, _start(job))


def _start(job: Job) -> float:
    return START_SECONDS["deep" if _is_deep(job) else "tabular"]


def usual_rate(job: Job) -> float:
    """Steps a second where nothing was measured."""
    if _is_deep(job):
        network = NETWORKS.get(_net(job), NETWORKS["mlp"])
        slots = job.settings.get("stack_size", 1) if network.per_slot else 1
        row = TASKS.get(_world(job))
        world = math.inf if row is None else row.steps_per_second
        return min(network.steps_per_second / slots, world)
    return USUAL["reinforce" if "reinforce" in job.settings.get("algo", "") else "q"]


def _is_deep(job: Job) -> bool:
    row = ALGORITHMS.get(job.settings.get("algo", ""))
    return row is not None and not row.tabular


def _net(job: Job) -> str:
    return str(job.settings.get("overrides", {}).get("net", "mlp"))


def _world(job: Job) -> str:
    return parse_spec(job.settings.get("task", "")).name


def _keys(job: Job) -> list[Hashable]:
    """What a job's speed depends on, the closest first."""
    settings = job.settings
    if not job.steps:
        return [(job.kind, settings.get("task"), settings.get("memory")), (job.kind,)]
    near = (settings.get("algo"), _net(job), settings.get("preset"))
    task = _world(job)
    return [(*near, task, settings.get("stack_size")), (*near, task), near]
