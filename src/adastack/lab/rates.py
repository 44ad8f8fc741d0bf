"""How long jobs take: from those that are finished, or else from what is usual."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress

from adastack.files import DamagedFileError
from adastack.lab.job import Job
from adastack.lab.store import Store

USUAL = {"q": 3e6, "reinforce": 1e6, "mlp": 6e4, "lstm": 1e4, "transformer": 6e3, "cnn": 1e3}
"""Environment steps a second on one core, all seeds together, where nothing was measured."""
START_SECONDS = 3.0
EXACT_SECONDS = 5.0


class Rates:
    """Estimates of how long jobs take.

    Example:
        >>> import tempfile
        >>> rates = Rates(Store(tempfile.mkdtemp()))
        >>> rates.seconds(Job("train", {"algo": "q", "steps": 3_000_000, "seeds": [0, 1]}))
        5.0
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._measured: dict[Hashable, tuple[float, float]] = {}
        self.learn(store.jobs())

    def learn(self, jobs: Iterable[Job]) -> None:
        """Takes the times of finished jobs into account."""
        for job in jobs:
            with suppress(DamagedFileError, KeyError, OSError):
                self._add(job, self._store.document(job)["seconds"])

    def _add(self, job: Job, seconds: float) -> None:
        work = job.steps or 1
        for key in _keys(job):
            steps, spent = self._measured.get(key, (0.0, 0.0))
            self._measured[key] = (steps + work, spent + seconds)

    def is_measured(self, job: Job) -> bool:
        """Whether a job like this has finished."""
        return any(key in self._measured for key in _keys(job))

    def seconds(self, job: Job) -> float:
        """How long one core needs for a job from its beginning."""
        for key in _keys(job):
            if key in self._measured:
                steps, spent = self._measured[key]
                return (job.steps or 1) * spent / steps
        if not job.steps:
            return EXACT_SECONDS
        return START_SECONDS + job.steps / usual_rate(job)


def usual_rate(job: Job) -> float:
    """Steps a second where nothing was measured."""
    algo = str(job.settings.get("algo", ""))
    if algo in ("ppo", "grpo"):
        return USUAL.get(_net(job), USUAL["mlp"])
    return USUAL["reinforce" if "reinforce" in algo else "q"]


def _net(job: Job) -> str:
    return str(job.settings.get("overrides", {}).get("net", "mlp"))


def _keys(job: Job) -> list[Hashable]:
    """What a job's speed depends on, the closest first."""
    settings = job.settings
    if not job.steps:
        return [(job.kind, settings.get("task"), settings.get("memory")), (job.kind,)]
    near = (settings.get("algo"), _net(job), settings.get("preset"))
    task = str(settings.get("task", "")).partition(":")[0]
    return [(*near, task, settings.get("stack_size"), settings.get("steps")), (*near, task), near]
