"""What analyses and claims see of a store: finished runs as rows and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.lab.job import Job, merged

if TYPE_CHECKING:
    from adastack.lab.evidence import Source

Row = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")


class Results:
    """The finished jobs of a list.

    Runs that are missing, unfinished or damaged are left out, and named by `missing`.

    Args:
        store: Where the runs are.
        jobs: What was asked for.
    """

    def __init__(self, store: Source, jobs: Iterable[Job]) -> None:
        self.store, self.jobs = store, merged(jobs)
        self._unreadable: set[str] = set()
        self._spelled: dict[str, Row] = {}

    @property
    def missing(self) -> list[Job]:
        """The jobs that have no result."""
        found = {job.address for job in self._finished} - self._unreadable
        return [job for job in self.jobs if job.address not in found]

    @cached_property
    def tasks(self) -> set[str]:
        """The tasks that the jobs are about, finished or not."""
        return {job.settings["task"] for job in self.jobs if "task" in job.settings}

    def rows(self, **where: Any) -> list[Row]:
        """One row per seed of every finished training that matches.

        A row holds the run's task, memory, stack_size, algo, preset, overrides and learner's
        settings (net, gamma, ...), trained_steps, everything that the final greedy evaluation says
        of the seed, and means over the training: auc_reward (per 1000 steps), auc_return and
        auc_success (over windows of 100 steps, as they are logged), auc_memory_regret,
        auc_active_regret, auc_passive_regret and auc_memory_regret_after (per step). The first
        three also as end_reward, end_return and end_success, over the last tenth. By episode rather
        than by window: episode_return, discounted_episode_return and end_episode_return, and mmer,
        the highest mean return of an eightieth of the training. And
        steps_to_solve: steps until four of five attempts in an eightieth of the training succeed,
        the length of the training if that never happens.
        """
        return _select(self._rows, where)

    def evaluations(self, **where: Any) -> list[Row]:
        """The same for every further evaluation, with ``tested``, the task it was tested on."""
        return _select(self._evaluations, where)

    def curves(self, **where: Any) -> Arrays:
        """What figures draw, (seeds, points), and ``step`` (points,); empty if there is none."""
        found: list[Arrays] = []
        for job in self._trained:
            if matches(self._settings(job), where):
                curves = self._read(job, self.store.curves)
                found += [curves] if curves is not None else []
        if not found:
            return {}
        points = min(len(curves["step"]) for curves in found)
        names = set.intersection(*(set(curves) for curves in found)) - {"step"}
        joined = {
            name: np.concatenate([curves[name][:, :points] for curves in found]) for name in names
        }
        return {"step": found[0]["step"][:points], **joined}

    def exact(self, kind: str, **where: Any) -> list[Row]:
        """The answers of finished exact computations, with their settings."""
        rows = []
        for job in self._finished:
            if job.kind == kind:
                answer = self._read(job, self.store.result)
                rows += [{**job.settings, **answer}] if answer is not None else []
        return [row for row in rows if matches(row, where)]

    @cached_property
    def _finished(self) -> list[Job]:
        # Locked or not: a training is finished even while tests are being added to it.
        return [job for job in self.jobs if self.store.is_finished(job)]

    @property
    def _trained(self) -> list[Job]:
        return [job for job in self._finished if job.kind == "train"]

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        """All rows by task: there are many, and nearly all questions are about one task."""
        rows: list[Row] = []
        for job in self._trained:
            answer = self._read(job, self.store.result)
            means = self._read(job, self.store.means)
            if answer is None or means is None:
                continue
            common = self._settings(job)
            for index, seed in enumerate(answer["seeds"]):
                mine = {name: float(values[index]) for name, values in means.items()}
                rows.append({**common, **seed, **mine})
        return _by_task(rows)

    @cached_property
    def _evaluations(self) -> dict[str, list[Row]]:
        rows: list[Row] = []
        for job in self._trained:
            for test in job.evaluate:
                answer = self._read(job, partial(self.store.evaluation, evaluation=test))
                if answer is not None:
                    common = {**self._settings(job), "tested": test.task}
                    rows += [{**common, **seed} for seed in answer["seeds"]]
        return _by_task(rows)

    def _settings(self, job: Job) -> Row:
        """What a run was, with the learner's settings spelled out."""
        # Every query asks for them: a result is read and verified once.
        if job.address not in self._spelled:
            asked = {name: value for name, value in job.settings.items() if name != "seeds"}
            spelled = (self._read(job, self.store.result) or {}).get("settings", {})
            asked["trained_steps"] = asked.pop("steps")
            self._spelled[job.address] = {"net": None, **spelled, **asked}
        return self._spelled[job.address]

    def _read(self, job: Job, how: Callable[[Job], T]) -> T | None:
        """The content of a file; None, and the job counts as missing, if it is damaged."""
        try:
            return how(job)
        except (DamagedFileError, KeyError):
            self._unreadable.add(job.address)
            return None


def matches(row: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether a row has all these values; a set or a tuple stands for any of its members."""
    return all(
        row.get(name) in want if isinstance(want, set | tuple) else row.get(name) == want
        for name, want in where.items()
    )


def _by_task(rows: list[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["task"], []).append(row)
    return groups


def _select(groups: dict[str, list[Row]], where: Mapping[str, Any]) -> list[Row]:
    task = where.get("task")
    chosen = [groups.get(task, [])] if isinstance(task, str) else groups.values()
    return [row for rows in chosen for row in rows if matches(row, where)]
