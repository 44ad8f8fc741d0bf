"""Which finished runs a report lets its readers watch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from adastack.files import DamagedFileError
from adastack.lab.job import Job
from adastack.lab.store import Store
from adastack.runs import Run
from adastack.tasks import resolve
from adastack.tasks.spec import parse_spec
from adastack.viewer.episode import spelled
from adastack.viewer.show import show_of

MOST_STEPS, MOST_PICTURES = 60, 40
"""Steps that are shown: drawn by the page, and as pictures, which take more space."""


@dataclass(frozen=True)
class Watched:
    """An episode, or why there is none."""

    title: str
    episode: dict[str, Any] | None
    problem: str = ""


def watch_all(store: Store, jobs: Iterable[Job]) -> list[Watched]:
    """An episode for every kind of task with a finished training: the best run of each memory.

    Adaptive memory comes first; beside it stands a frame stack of the same task and size, if one
    was trained.
    """
    trained = [job for job in jobs if job.kind == "train"]
    found: list[Watched] = []
    for kind in sorted({_kind(job) for job in trained}):
        ours = [
            job for job in trained if _kind(job) == kind and job.settings["memory"] == "adaptive"
        ]
        best = max(ours, key=lambda job: _rank(store, job), default=None)
        if best is None:
            continue
        rivals = [job for job in trained if _is_rival(job, best)]
        found += [_watched(store, job) for job in [best, *rivals[:1]]]
    return found


def _kind(job: Job) -> str:
    """A task's name without its options."""
    return parse_spec(job.settings["task"]).name


def _rank(store: Store, job: Job) -> tuple[float, list[int]]:
    """How well the best seed does, then how large the task is."""
    sizes = [int(number) for number in re.findall(r"\d+", job.settings["task"])]
    return round(_success(store, job)[0], 2), sizes


def _success(store: Store, job: Job) -> tuple[float, int]:
    """The best seed's success, or return, and the seed."""
    rows = store.result(job)["seeds"]
    scores = [
        (row["success"] if row.get("success") is not None else row.get("return") or 0.0, -i)
        for i, row in enumerate(rows)
    ]
    score, place = max(scores)
    return float(score), int(rows[-place]["seed"])


def _is_rival(job: Job, best: Job) -> bool:
    names = ("task", "stack_size", "algo")
    same = all(job.settings[name] == best.settings[name] for name in names)
    return same and job.settings["memory"] == "frame"


def _watched(store: Store, job: Job) -> Watched:
    s = job.settings
    title = f"{spelled(s['task'])}: {s['memory']} memory, {s['stack_size']} slots, {s['algo']}"
    try:
        steps = MOST_STEPS if resolve(s["task"]).kind == "finite" else MOST_PICTURES
        show = show_of(Run.open(store.folder(job) / "run"), _success(store, job)[1])
        return Watched(title, show.episode(max_steps=steps))
    except (ImportError, DamagedFileError, ValueError) as error:
        return Watched(title, None, f"cannot be shown: {error}")
