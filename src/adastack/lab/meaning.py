"""What a result means beyond its settings: the task and the definitions that its names stand for.

A job's address is made of names. A result also carries what they stood for when it was computed:
the settings of its preset, a fingerprint of its task, and `REVISIONS`. Where one of them has
changed since, the result is of another job, and is not used.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from adastack.lab.job import Job
from adastack.tasks.registry import TASKS, resolve, user_modules
from adastack.tasks.spec import parse_spec, spell

REVISIONS: dict[str, int] = {}
"""Definitions that have changed since they were first used, and how often.

Named ``metric:memory_regret``, ``world:cube``, ``memory:push_skip``, ``algo:ppo`` or
``kind:kappa``. Raise one when the same name begins to mean something else, and results that rest
on it no longer count. Finite tasks need none: they are compared as arrays.
"""
LONG = 100
"""A task whose options are larger is recognised by the one of this size."""
_ARRAYS = ("observation", "next_state", "probability", "reward", "ends", "start", "cue")
_REST = ("observation_names", "action_names", "continual", "time_limit", "discount")

Meaning = dict[str, Any]


def meaning_of(job: Job) -> Meaning:
    """What the names in a job's settings stand for today."""
    s = job.settings
    names = {f"kind:{job.kind}", f"memory:{s.get('memory')}", f"algo:{s.get('algo')}"}
    return _meaning(s.get("task"), names, counted=job.kind == "train")


def meaning_of_test(task: str) -> Meaning:
    """The same of a test on a task."""
    return _meaning(task, set(), counted=True)


def _meaning(task: str | None, names: set[str], counted: bool) -> Meaning:
    names = names | ({f"world:{parse_spec(task).name}"} if task else set())
    revisions = {
        name: number
        for name, number in REVISIONS.items()
        if name in names or (counted and name.startswith("metric:"))
    }
    return {"task": fingerprint(task) if task else None, "revisions": revisions}


def changed(then: Meaning | None, now: Meaning) -> str | None:
    """What has changed since a result was computed; None if nothing is known to have."""
    if then is None:
        return None
    if then["task"] and now["task"] and then["task"] != now["task"]:
        return "its task has changed since"
    for name in sorted({*then["revisions"], *now["revisions"]}):
        if then["revisions"].get(name) != now["revisions"].get(name):
            return f"{name.replace(':', ' ')} has changed since"
    return None


def fingerprint(spec: str) -> str | None:
    """A finite task, or the file of a user's environment, as a short word; None if not known."""
    name, _ = parse_spec(spec)
    return _of_task(spec) if name in TASKS else _of_file(name)


def _of_file(name: str) -> str | None:
    """An environment of a module that the user has named here, by the file of the module.

    A module that only a stored job names is not imported to look at the job.
    """
    module = name.rpartition(":")[0]
    if not module and name in gymnasium.registry:
        module = str(gymnasium.registry[name].entry_point).partition(":")[0]
    file = getattr(sys.modules.get(module), "__file__", None) if module in user_modules else None
    try:
        return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
    except OSError:
        return None


@cache
def _of_task(spec: str) -> str | None:
    name, options = parse_spec(spec)
    try:
        short = {o: str(min(int(v), LONG)) if v.isdigit() else v for o, v in options.items()}
        resolved = resolve(spell(name, short))
        task = resolved.finite() if resolved.kind == "finite" else None
    except (ValueError, OSError, ImportError):
        return None
    if task is None:
        return None
    digest = hashlib.sha256(repr([getattr(task, each) for each in _REST]).encode())
    for each in _ARRAYS:
        array: np.ndarray[Any, Any] = getattr(task, each)
        digest.update(f"{each}{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]
