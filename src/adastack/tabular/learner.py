"""Training and evaluating tabular agents: what ``adastack train`` and ``evaluate`` call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adastack.files import DamagedFileError
from adastack.process.evaluation import Evaluator
from adastack.progress import Progress
from adastack.runs import Run, RunError, check_seeds
from adastack.tabular.policies import check_same_signals, play
from adastack.tabular.session import Session
from adastack.tabular.settings import ALGOS, as_document, settings_for, settings_from
from adastack.tasks.finite import FiniteTask
from adastack.tasks.registry import make_task

SAVE_SECONDS = 5.0
CHUNK_SECONDS = 0.5
RECENT = 10
"""Windows behind the numbers of a progress line."""
EVALUATION_EPISODES = 1000
EVALUATION_SEED = 0


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

    Args:
        task: The task's name with its options.
        memory: A memory rule, or ``"random"``.
        stack_size: The number of slots, k.
        algo: One of `ALGOS`.
        preset: The settings to begin with.
        steps: How many steps each seed takes.
        seeds: The seeds.
        path: The run's folder; it must be new, unless it is resumed.
        overrides: Settings that differ from the preset.
        resume: Go on with the run in the folder, if there is one.
        progress: Where to say how far the run is.

    Raises:
        ValueError: If something asked for does not exist or does not fit; nothing is written.
    """
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
    session = session_of(document)
    run = Run.resume(path, document) if resume else Run.create(path, document)
    return run.result if run.status == "finished" else _run(run, session, progress)


def evaluate(
    run: Run, *, task: str | None, episodes: int, greedy: bool, seed: int
) -> dict[str, Any]:
    """Plays the policies of a run, on its own task or on another with the same observations.

    Args:
        run: The run.
        task: The other task; None for the run's own.
        episodes: How many attempts to play where the answer is not exact.
        greedy: Play the best actions, or explore as at the end of training.
        seed: Where the random numbers of sampled attempts come from.
    """
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, actual: {episodes}")
    session = session_of(run.settings)
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    _restore(run, session, saved[0])
    other = session.induced.task if task is None else make_task(task)
    check_same_signals(session.induced.task, other)
    began = time.perf_counter()
    rows, walked = _results(session, run.settings, other, episodes, greedy, seed)
    spent = time.perf_counter() - began
    return {
        "run": str(run.path),
        "settings": run.settings,
        "task": other.name,
        "episodes": episodes,
        "greedy": greedy,
        "steps_per_second": walked / max(spent, 1e-9),
        "seeds": rows,
    }


def session_of(document: Mapping[str, Any]) -> Session:
    """A session for what a run's settings ask for."""
    try:
        seeds, steps, algo = document["seeds"], document["steps"], document["algo"]
        if algo not in ALGOS:
            raise ValueError(f"algo must be one of {', '.join(ALGOS)}, actual: {algo!r}")
        check_seeds(seeds, steps)
        return Session(
            make_task(document["task"]),
            document["memory"],
            document["stack_size"],
            algo,
            settings_from(algo, document["settings"]),
            steps,
            seeds,
        )
    except (KeyError, TypeError) as error:
        raise RunError(f"these are not the settings of a tabular run: {error}") from None


def _restore(run: Run, session: Session, arrays: Mapping[str, Any]) -> None:
    try:
        session.restore(arrays)
    except ValueError as error:
        raise DamagedFileError(f"{run.path}: {error}") from None


def _run(run: Run, session: Session, progress: Progress) -> dict[str, Any]:
    """The loop: chunks of half a second, progress, checkpoints, and the result."""
    saved = run.load_checkpoint()
    if saved is not None:
        _restore(run, session, saved[0])
    first, began = session.steps_done, time.perf_counter()
    chunk, last_save = 1, began
    while session.blocks_done < session.blocks:
        before = time.perf_counter()
        session.advance(chunk)
        now = time.perf_counter()
        # The first call may have compiled the kernel; a chunk never grows by more than ten.
        chunk = max(1, min(10 * chunk, int(chunk * CHUNK_SECONDS / (now - before))))
        progress.update(session.steps_done, **_recent(session))
        if now - last_save > SAVE_SECONDS:
            _save(run, session)
            last_save = now
    spent = time.perf_counter() - began
    _save(run, session)
    task = session.induced.task
    rows, _ = _results(session, run.settings, task, EVALUATION_EPISODES, True, EVALUATION_SEED)
    result = {
        "run": str(run.path),
        "settings": run.settings,
        "steps": session.steps_done,
        "steps_per_second": (session.steps_done - first) * len(session.seeds) / max(spent, 1e-9),
        "seeds": rows,
    }
    run.finish(result)
    return result


def _save(run: Run, session: Session) -> None:
    run.save_metrics(session.curves())
    run.save_checkpoint(session.arrays, step=session.steps_done)


def _recent(session: Session) -> dict[str, float]:
    """Means over the seeds and the last windows."""
    curves = session.curves()
    rewards, success = curves["reward"][:, -RECENT:], curves["success"][:, -RECENT:]
    steps = np.diff(curves["step"], prepend=0)[-RECENT:]
    known = success[~np.isnan(success)]
    return {
        "reward_rate": 1000 * float(rewards.sum() / steps.sum()) / len(session.seeds),
        "success": float(known.mean()) if len(known) else float("nan"),
    }


def _results(
    session: Session,
    document: Mapping[str, Any],
    task: FiniteTask,
    episodes: int,
    greedy: bool,
    seed: int,
) -> tuple[list[dict[str, Any]], int]:
    """A row for each seed, and how many steps were walked for them."""
    gamma = session.settings.gamma
    evaluator = Evaluator(task, document["memory"], document["stack_size"], gamma)
    rows, walked = [], 0
    for index, number in enumerate(session.seeds):
        evaluated = play(session, evaluator, index, greedy=greedy, episodes=episodes, seed=seed)
        rows.append({"seed": number, **evaluator.summary(evaluated)})
        walked += evaluated.steps_walked
    return rows, walked
