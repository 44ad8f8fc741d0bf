"""Training and evaluating deep agents: what ``adastack train`` and ``adastack evaluate`` call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from adastack.deep.backend import enable_compilation_cache
from adastack.deep.finite_session import FiniteSession
from adastack.deep.functional_session import FunctionalSession
from adastack.deep.gym_session import GymSession
from adastack.deep.metrics import Recorder
from adastack.deep.settings import as_document, settings_for, settings_from
from adastack.progress import Progress
from adastack.runs import Run, RunError, check_seeds
from adastack.tasks import make_task, resolve
from adastack.tensorboard import CurveEvents

SAVE_SECONDS = 10.0
EVALUATION_EPISODES = 100
EVALUATION_SEED = 0
KEYS = ("task", "memory", "stack_size", "seeds", "steps")
"""What a run's settings name beside those of the learner."""


class Session(Protocol):
    """A run in progress, by either road."""

    done: int
    total: int
    recorder: Recorder

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""

    @property
    def savable(self) -> bool:
        """Whether a checkpoint can be taken now."""

    def start(self) -> None:
        """Begins."""

    def advance(self) -> None:
        """Runs for a second or two."""

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""

    def results(self, episodes: int, greedy: bool, seed: int) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy: a row for each, and how many steps that took."""


def train(
    *,
    task: str,
    memory: str,
    stack_size: int,
    algo: str,
    preset: str,
    steps: int,
    seeds: list[int],
    path: Path,
    overrides: dict[str, Any],
    resume: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Trains seeds side by side and saves them as one run.

    With ``resume`` an unfinished run goes on from its last checkpoint and ends bit for bit as if it
    had never stopped; a finished one gives its result.

    Raises:
        ValueError: If something cannot be run as asked; nothing is written then.
        RuntimeError: If a loss, an observation or a reward is not a number; the run is marked.
    """
    enable_compilation_cache()
    document = {
        "task": task,
        "memory": memory,
        "stack_size": stack_size,
        "algo": algo,
        "preset": preset,
        "steps": steps,
        "seeds": seeds,
        "settings": as_document(settings_for(preset, algo, overrides)),
    }
    try:
        session = session_of(document)
    except MemoryError as error:
        raise ValueError(f"{error} for a stack of {stack_size} slots: use a smaller k") from None
    run = Run.resume(path, document) if resume else Run.create(path, document)
    if run.status == "finished":
        return run.result
    try:
        return _run(run, session, progress)
    except FloatingPointError as error:
        run.fail(str(error))
        raise RuntimeError(str(error)) from None


def evaluate(
    run: Run, *, task: str | None, episodes: int, greedy: bool, seed: int
) -> dict[str, Any]:
    """Plays the policies of a run, on its own task or on another with the same observations."""
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, actual: {episodes}")
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    enable_compilation_cache()
    session = session_of(run.settings)
    session.restore(*saved)
    began = time.perf_counter()
    if task is None:
        rows, walked = session.results(episodes, greedy, seed)
    elif isinstance(session, FiniteSession):
        rows, walked = session.evaluate(make_task(task), episodes, greedy, seed)
    else:
        rows, walked = session.evaluate(task, episodes, greedy, seed)
    spent = time.perf_counter() - began
    return {
        "run": str(run.path),
        "settings": run.settings,
        "task": task or run.settings["task"],
        "episodes": episodes,
        "greedy": greedy,
        "steps_per_second": walked / max(spent, 1e-9),
        "seeds": rows,
    }


def session_of(document: Mapping[str, Any]) -> FiniteSession | FunctionalSession | GymSession:
    """A session for what a run's settings ask for.

    Finite tasks are trained on their tables, functional worlds are compiled with the update, other
    worlds and Gymnasium ids are stepped on the host.
    """
    try:
        name, memory, stack_size, seeds, steps = (document[key] for key in KEYS)
        settings = settings_from(document["settings"])
    except (KeyError, TypeError) as error:
        raise RunError(f"these are not the settings of a deep run: {error}") from None
    check_seeds(seeds, steps)
    rest = memory, stack_size, settings, seeds, steps
    found = resolve(name)
    if found.kind == "finite":
        return FiniteSession(found.finite(), *rest)
    task = found.functional()
    return GymSession(name, *rest) if task is None else FunctionalSession(name, task, *rest)


def _run(run: Run, session: Session, progress: Progress) -> dict[str, Any]:
    """The loop: chunks, progress, checkpoints, and the result."""
    saved = run.load_checkpoint()
    if saved is None:
        session.start()
    else:
        session.restore(*saved)
    meta = saved[1] if saved else {}
    events = CurveEvents(run.path, meta.get("event_bytes", 0), meta.get("event_points", 0))
    began, first, last_save = time.perf_counter(), session.steps_done, time.perf_counter()
    while session.done < session.total:
        session.advance()
        progress.update(session.steps_done, **session.recorder.recent())
        if session.savable and time.perf_counter() - last_save > SAVE_SECONDS:
            _save(run, session, events)
            last_save = time.perf_counter()
    spent = time.perf_counter() - began
    _save(run, session, events)
    steps = session.steps_done
    result = {
        "run": str(run.path),
        "settings": run.settings,
        "steps": steps,
        "steps_per_second": (steps - first) * len(run.settings["seeds"]) / max(spent, 1e-9),
        "seeds": session.results(EVALUATION_EPISODES, True, EVALUATION_SEED)[0],
    }
    run.finish(result)
    return result


def _save(run: Run, session: Session, events: CurveEvents) -> None:
    """Metrics and events first: the checkpoint that counts on them is replaced last."""
    curves = session.recorder.curves()
    run.save_metrics(curves)
    events.add(curves)
    arrays, meta = session.checkpoint()
    run.save_checkpoint(arrays, **meta, event_bytes=events.file.size, event_points=events.points)
