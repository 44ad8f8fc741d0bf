"""Training and evaluating tabular agents: what ``adastack train`` and ``evaluate`` call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.progress import Progress
from adastack.runs import Run, RunError, check_seeds
from adastack.tabular.evaluation import Stage
from adastack.tabular.session import Session
from adastack.tabular.settings import VALUE_ALGOS, as_document, settings_for, settings_from
from adastack.tabular.stacks import Decide
from adastack.tasks.finite import FiniteTask
from adastack.tasks.registry import make_task

CHUNK = 200
"""Blocks of 100 steps between two looks at the clock."""
SAVE_SECONDS = 5.0
EPISODES = 100


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
    """Plays the policies of a run, on its own task or on another with the same observations."""
    session = session_of(run.settings)
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    session.restore(saved[0])
    began = time.perf_counter()
    rows, walked = _play(session, run.settings, _other(session, task), episodes, greedy, seed)
    return {
        "run": str(run.path),
        "settings": run.settings,
        "task": task or run.settings["task"],
        "episodes": episodes,
        "greedy": greedy,
        "steps_per_second": walked / max(time.perf_counter() - began, 1e-9),
        "seeds": rows,
    }


def session_of(document: Mapping[str, Any]) -> Session:
    """A session for what a run's settings ask for."""
    check_seeds(document["seeds"], document["steps"])
    return Session(
        make_task(document["task"]),
        document["memory"],
        document["stack_size"],
        document["algo"],
        settings_from(document["algo"], document["settings"]),
        document["steps"],
        document["seeds"],
    )


def policy_of(session: Session, index: int, greedy: bool) -> Decide:
    """What one seed has learned, as chances of joint actions for any stack.

    A stack that training never met has the values it would have begun with: all actions alike, of
    which the greedy policy takes the first.
    """
    induced, table, gradient = (
        session.induced,
        session.table[index],
        session.algo not in VALUE_ALGOS,
    )

    def decide(stack: tuple[int, ...]) -> NDArray[np.float64]:
        agent = induced.find(stack)
        row = np.zeros(session.width) if agent < 0 else table[agent]
        if gradient and not greedy:
            chances = np.exp(row - row.max())
            return chances / chances.sum()
        chances = np.zeros(session.width)
        chances[int(row.argmax())] = 1
        return chances

    return decide


def _run(run: Run, session: Session, progress: Progress) -> dict[str, Any]:
    """The loop: chunks, progress, checkpoints, and the result."""
    saved = run.load_checkpoint()
    if saved is not None:
        session.restore(saved[0])
    began, first, last_save = time.perf_counter(), session.steps_done, time.perf_counter()
    while session.blocks_done < session.blocks:
        session.advance(CHUNK)
        progress.update(session.steps_done)
        if time.perf_counter() - last_save > SAVE_SECONDS:
            _save(run, session)
            last_save = time.perf_counter()
    spent = time.perf_counter() - began
    _save(run, session)
    rows, _ = _play(session, run.settings, session.induced.task, EPISODES, True, 0)
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


def _other(session: Session, task: str | None) -> FiniteTask:
    """The task to play on; its observations and actions must be those of the run's own."""
    own = session.induced.task
    other = own if task is None else make_task(task)
    for name in ("observation_names", "action_names"):
        if getattr(own, name) != getattr(other, name):
            raise ValueError(
                f"expected a task with the {name.replace('_', ' ')} {getattr(own, name)}, "
                f"actual: {task} with {getattr(other, name)}"
            )
    return other


def _play(
    session: Session,
    document: Mapping[str, Any],
    task: FiniteTask,
    episodes: int,
    greedy: bool,
    seed: int,
) -> tuple[list[dict[str, Any]], int]:
    """Plays every seed's policy; also how many steps that took."""
    stage = Stage(task, document["memory"], document["stack_size"], session.settings.gamma)
    deterministic = greedy or session.algo in VALUE_ALGOS
    rows, walked = [], 0
    for index, number in enumerate(session.seeds):
        decide = policy_of(session, index, greedy)
        played = stage.play(decide, deterministic=deterministic, episodes=episodes, seed=seed)
        rows.append({"seed": number, **stage.summary(played)})
        walked += played.steps_walked
    return rows, walked
