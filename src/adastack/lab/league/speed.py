"""How fast each memory of the league is trained: in turns, in one process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from adastack.lab.job import Job
from adastack.lab.league.entrants import PRESET, Entrant, entrant_of
from adastack.progress import Progress
from adastack.tasks.registry import resolve

KIND = f"{__name__}:measured"
ROUNDS, SMOKE_ROUNDS = 5, 1
LONG = 10**9
"""Steps of a run that is never ended."""


def speed_job(task: str, entrants: Mapping[Entrant, int], rounds: int = ROUNDS) -> Job:
    """The job that measures entrants, each with its width."""
    widths = {_spec(each): hidden for each, hidden in entrants.items()}
    return Job(KIND, {"task": task, "hidden": widths, "rounds": rounds})


def measured(settings: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Trained steps a second by memory: the medians of some rounds over all of them."""
    from adastack.deep.session import DeepSession
    from adastack.training import RunSpec, make_session

    sessions: dict[str, DeepSession[Any]] = {}
    for spec, hidden in settings["hidden"].items():
        entrant = entrant_of(spec)
        document = RunSpec(
            task=settings["task"], memory=entrant.rule, stack_size=entrant.stack_size, algo="ppo",
            preset=PRESET, steps=LONG, seeds=[0], overrides=entrant.overrides(hidden),
        ).document()  # fmt: skip
        session: Any = make_session(document, resolve(document["task"]))
        session.start()
        session.advance()  # Compiles.
        sessions[entrant.label] = session
    rates: dict[str, list[float]] = {label: [] for label in sessions}
    for done in range(settings["rounds"]):
        for label, session in sessions.items():
            rates[label].append(_rate(session))
        progress.update(done + 1)
    return {"steps_per_second": {label: median(found) for label, found in rates.items()}}


def _rate(session: Any) -> float:
    before, began = session.steps_done, time.perf_counter()
    session.advance()
    return float((session.steps_done - before) / (time.perf_counter() - began))


def _spec(entrant: Entrant) -> str:
    cell = f"+{entrant.cell}" if entrant.recurrent else ""
    return f"{entrant.rule}:{entrant.stack_size}{cell}"
