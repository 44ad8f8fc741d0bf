"""How long jobs take, estimated from finished ones or else from usual speeds."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from adastack.algorithms import ALGORITHMS
from adastack.deep.cell_table import NO_CELL
from adastack.deep.network_table import NETWORKS
from adastack.files import DamagedFileError
from adastack.lab.archive import Archive
from adastack.lab.archive_file import version_of
from adastack.lab.job import Evaluation, Job
from adastack.lab.machine import machine
from adastack.lab.manifest import Document
from adastack.lab.store import Store
from adastack.tasks.registry import TASKS
from adastack.tasks.spec import parse_spec

USUAL = {"q": 3e6, "reinforce": 1e6}
"""Environment steps a second of tables on one core, all seeds together, where nothing was measured;
networks and worlds have theirs in their rows."""
CELL_STEPS_PER_SECOND = 5e3
"""The same of a recurrent cell over a network."""
START_SECONDS = {"deep": 8.0, "tabular": 1.0}
"""Importing and compiling."""
EXACT_SECONDS = 5.0
TEST_SECONDS = 1.0
ALIKE = 4
"""Jobs whose steps differ by more than this factor say little about each other: a short one is all
start, a long one has none."""
NEWEST = 5
"""Of runs alike, so many of the newest are asked: code gets faster, and old speeds go stale."""

Basis = Literal["same", "similar", "table"]
"""Runs of the same network, memory, preset and task; of some of these; usual speeds."""


@dataclass(frozen=True, order=True)
class Timed:
    """How long something took; the later in order, the more it counts."""

    version: tuple[int, ...]
    """Of the package."""
    here: bool
    """Whether it ran on a machine like this one."""
    finished: str
    work: int
    """Steps, or 1."""
    usual: float
    """How long usual speeds let expect, without start."""
    seconds: float
    processor: str


class SpeedEstimates:
    """Estimates of how long jobs take.

    The closest finished runs count: those with the same algorithm, network, preset, memory, number
    of slots and task, else those that differ in the task, the memory or the slots, corrected by
    usual speeds. Of these the newest package's come first, then this machine's.

    Args:
        store: Runs whose times are known, and runs that have begun.
        archive: Further runs whose times are known.

    Example:
        >>> import tempfile
        >>> speeds = SpeedEstimates(Store(tempfile.mkdtemp()))
        >>> speeds.seconds(Job("train", {"algo": "q", "steps": 3_000_000, "seeds": [0, 1]}))
        3.0
    """

    def __init__(self, store: Store, archive: Archive | None = None) -> None:
        self._store = store
        self._measured: dict[Hashable, dict[str, Timed]] = {}
        self._left: dict[str, float] = {}
        for job in archive.jobs() if archive else ():
            assert archive is not None
            self._add(job, archive.document(job))
        self.learn(store.jobs())

    def learn(self, jobs: Iterable[Job]) -> None:
        """Takes the times of finished jobs of the store into account."""
        for job in jobs:
            with suppress(DamagedFileError, KeyError, OSError):
                self._add(job, self._store.document(job))

    def _add(self, job: Job, document: Document) -> None:
        timed = _timed(document, job.steps or 1, _usual(job), document["seconds"])
        for key in _keys(job):
            self._measured.setdefault(key, {})[job.address] = timed
        for test in job.evaluate:
            spent = document.get("tests", {}).get(test.address, {}).get("seconds")
            if spent is not None:
                timed = _timed(document, 1, TEST_SECONDS, spent)
                for key in _test_keys(job, test):
                    name = f"{job.address} {test.address}"
                    self._measured.setdefault(key, {})[name] = timed

    def nearest(self, job: Job) -> list[Timed]:
        """The finished runs that an estimate rests on; none if it is usual speeds."""
        return self._nearest(_keys(job), job.steps or 1)[1]

    def basis(self, job: Job) -> Basis:
        """What an estimate rests on."""
        level, found = self._nearest(_keys(job), job.steps or 1)
        return "table" if not found else "similar" if level else "same"

    def _nearest(self, keys: list[Hashable], work: int) -> tuple[int, list[Timed]]:
        for level, key in enumerate(keys):
            known = sorted(self._measured.get(key, {}).values(), reverse=True)
            alike = [each for each in known if work / ALIKE <= each.work <= work * ALIKE]
            if alike:
                first = alike[0]
                best = [e for e in alike if (e.version, e.here) == (first.version, first.here)]
                return level, best[:NEWEST]
        return len(keys), []

    def measured(self, job: Job) -> float | None:
        """How long jobs like this took, without tests; None if none has finished."""
        found = self.nearest(job)
        return _usual(job) * _slowness(found) if found else None

    def seconds(self, job: Job) -> float:
        """How long one core needs for a whole job."""
        return self._training(job) + self._tests(job)

    def _training(self, job: Job) -> float:
        found = self.measured(job)
        if found is not None:
            return found
        return _usual(job) + (_start(job) if job.steps else 0.0)

    def _tests(self, job: Job) -> float:
        known = (self._nearest(_test_keys(job, test), 1)[1] for test in job.evaluate)
        return sum(TEST_SECONDS * (_slowness(found) if found else 1.0) for found in known)

    def share_left(self, job: Job) -> float:
        """The share of a training that was left when it was first asked for."""
        # A live table asks once a second. A waiting job makes no progress, so cache it.
        if job.address not in self._left:
            self._left[job.address] = self._store.share_left(job)
        return self._left[job.address]

    def seconds_left(self, job: Job) -> float:
        """How long one core still needs for a job that may have begun."""
        share, whole = self.share_left(job), self._training(job)
        rest = whole if share == 1 else max(share * whole, _start(job))
        return rest + self._tests(job)


def _timed(document: Document, work: int, usual: float, seconds: float) -> Timed:
    processor = document.get("machine", {}).get("processor", "")
    here = processor == machine()["processor"]
    finished = document.get("finished", "")
    return Timed(version_of(document), here, finished, work, usual, seconds, processor)


def _slowness(found: list[Timed]) -> float:
    """How many times slower than usual."""
    return sum(each.seconds for each in found) / sum(each.usual for each in found)


def _usual(job: Job) -> float:
    """How long usual speeds let expect, without start."""
    return job.steps / usual_rate(job) if job.steps else EXACT_SECONDS


def _start(job: Job) -> float:
    return START_SECONDS["deep" if _is_deep(job) else "tabular"]


def usual_rate(job: Job) -> float:
    """Steps a second where nothing was measured."""
    if _is_deep(job):
        network = NETWORKS.get(_net(job), NETWORKS["mlp"])
        row = TASKS.get(_world(job))
        slots = job.settings.get("stack_size", 1)
        world = math.inf if row is None else row.steps_per_second
        world /= max(1.0, slots / 2) if row is not None and row.wide else 1.0
        cell = math.inf if _cell(job) == NO_CELL else CELL_STEPS_PER_SECOND
        finite = row is not None and row.kind == "finite"
        reads = _slots_read(slots, finite) if network.sequence else 1
        return min(network.steps_per_second / reads, world, cell)
    return USUAL["reinforce" if "reinforce" in job.settings.get("algo", "") else "q"]


def _slots_read(slots: int, finite: bool) -> float:
    """What a stack costs a sequence network, in slots that are read one by one.

    On finite tasks stacks share their prefixes: up to eight slots cost about what two do, and 16 or
    64 what the times of an update in docs/experiments.md say.
    """
    return min(slots, 2) * max(1.0, slots / 8) ** 1.2 if finite else float(slots)


def _is_deep(job: Job) -> bool:
    row = ALGORITHMS.get(job.settings.get("algo", ""))
    return row is not None and not row.tabular


def _net(job: Job) -> str:
    return str(job.settings.get("overrides", {}).get("net", "mlp"))


def _cell(job: Job) -> str:
    return str(job.settings.get("overrides", {}).get("cell", NO_CELL))


def _world(job: Job) -> str:
    return parse_spec(job.settings.get("task", "")).name


def _keys(job: Job) -> list[Hashable]:
    """What a job's speed depends on, the closest first."""
    settings = job.settings
    if not job.steps:
        return [(job.kind, settings.get("task"), settings.get("memory")), (job.kind,)]
    near = (settings.get("algo"), _net(job), _cell(job), settings.get("preset"))
    task, memory, slots = _world(job), settings.get("memory"), settings.get("stack_size")
    return [
        (*near, task, memory, slots),
        (*near, task, slots),
        (*near, memory, slots),
        (*near, task),
        near,
    ]


def _test_keys(job: Job, test: Evaluation) -> list[Hashable]:
    """What the time of a test depends on."""
    kind = ("test", _net(job), _cell(job), job.settings.get("stack_size"))
    return [(*kind, test.task), ("test", test.task), (*kind, parse_spec(test.task).name)]
