"""A job: what is to be computed, as data, and the address it is stored under."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

FORMAT = 1
"""Raised when the same settings would give other numbers, so that old results are not mistaken."""
BATCH = 5
"""Seeds that run side by side as one job."""


@dataclass(frozen=True)
class Evaluation:
    """A test of trained policies, on their own task or another."""

    task: str
    episodes: int = 100
    """How many attempts, where they must be sampled."""
    greedy: bool = True
    seed: int = 0

    @property
    def address(self) -> str:
        """The name of its file."""
        return _evaluation_address(self)


@dataclass(frozen=True)
class Job:
    """One thing to compute; equal settings are the same job.

    Example:
        >>> Job("kappa", {"task": "xormaze"}).address
        'kappa-xormaze-3df4aa96a723a17f'
    """

    kind: str
    """``"train"``, or the name of an exact computation."""
    settings: Mapping[str, Any]
    """What the kind's function is given; JSON-able."""
    evaluate: tuple[Evaluation, ...] = ()
    """Tests of a trained job. They are no part of the address: more can be added to a run."""
    imports: tuple[str, ...] = ()
    """Modules that a worker imports first, for tasks and rules of the user's own. They are no part
    of the address; that their content has changed is noticed by `adastack.lab.meaning`."""

    @cached_property
    def address(self) -> str:
        """A folder's name: readable, and different for different settings."""
        digest = _hash({"format": FORMAT, "kind": self.kind, "settings": self.settings})
        words = [self.kind, *(str(self.settings.get(name, "")) for name in ("task", "memory"))]
        readable = re.sub(r"[^\w.=]+", "-", "-".join(word for word in words if word))
        return f"{readable[:60]}-{digest}"

    @property
    def steps(self) -> int:
        """Environment steps of all seeds; 0 for an exact computation."""
        return int(self.settings.get("steps", 0)) * len(self.settings.get("seeds", ()))

    def __hash__(self) -> int:
        return hash(self.address)


def train_jobs(
    task: str,
    memory: str,
    stack_size: int,
    *,
    algo: str,
    preset: str,
    steps: int,
    seeds: Sequence[int],
    overrides: Mapping[str, Any] | None = None,
    evaluate: Iterable[Evaluation] = (),
    batch: int = BATCH,
) -> list[Job]:
    """Jobs that train all seeds, in batches.

    Batches are aligned (0-4, 5-9, ...), so that asking for more or fewer seeds later reuses them.
    """
    common = {
        "task": task,
        "memory": memory,
        "stack_size": stack_size,
        "algo": algo,
        "preset": preset,
        "steps": steps,
        "overrides": dict(overrides or {}),
    }
    batches: dict[int, list[int]] = {}
    for seed in seeds:
        batches.setdefault(seed // batch, []).append(seed)
    return [
        Job("train", {**common, "seeds": members}, tuple(evaluate)) for members in batches.values()
    ]


def merged(jobs: Iterable[Job]) -> list[Job]:
    """Each job once, with all that is asked of it; in the order they came."""
    found: dict[str, Job] = {}
    for job in jobs:
        known = found.setdefault(job.address, job)
        found[job.address] = replace(
            known,
            evaluate=tuple(dict.fromkeys(known.evaluate + job.evaluate)),
            imports=tuple(dict.fromkeys(known.imports + job.imports)),
        )
    return list(found.values())


@cache
def _evaluation_address(test: Evaluation) -> str:
    return _hash([test.task, test.episodes, test.greedy, test.seed])


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
