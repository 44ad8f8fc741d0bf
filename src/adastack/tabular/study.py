"""The paper's tabular experiments: which learners on which tasks, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adastack.process.evaluation import Evaluator
from adastack.progress import Progress, Silent
from adastack.tabular.policies import play
from adastack.tabular.session import Session
from adastack.tabular.settings import settings_for
from adastack.tasks.registry import make_task

LENGTHS = (2, 3, 4, 5, 6)
STEPS = 1_000_000
SEEDS = tuple(range(20))
TAIL = 0.1
"""The last part of training behind the figures of a trial."""


@dataclass(frozen=True)
class Trial:
    """Learners of one kind on one task."""

    label: str
    """What the memory is called in tables."""
    task: str
    memory: str
    stack_size: int
    algo: str = "q"
    preset: str = "paper"
    overrides: dict[str, Any] = field(default_factory=dict)

    def session(self, steps: int, seeds: Sequence[int]) -> Session:
        """Seeds that are about to learn."""
        settings = settings_for(self.preset, self.algo, self.overrides)
        return Session(
            make_task(self.task), self.memory, self.stack_size, self.algo, settings, steps, seeds
        )


@dataclass(frozen=True)
class Outcome:
    """What came of a trial; arrays are by seed."""

    trial: Trial
    training: dict[str, Any]
    """Means over the last tenth of training: reward per 1000 steps, success, regrets per step."""
    greedy: dict[str, Any]
    """What the final greedy policies are worth; see `Evaluator.summary`."""
    session: Session


def maze_trials(kind: str, length: int) -> list[Trial]:
    """The four memories on a continual maze: kappa slots, or as many as the maze is long."""
    task = f"{kind}-tmaze:length={length},continual=true"
    return [
        Trial("AS(2)", task, "adaptive", 2),
        Trial("FS(2)", task, "frame", 2),
        Trial("FS(k*)", task, "frame", length),
        Trial("push_skip(2)", task, "push_skip", 2),
    ]


def xormaze_trials() -> list[Trial]:
    """The five memories on the XorMaze."""
    return [
        Trial("AS(3)", "xormaze", "adaptive", 3),
        Trial("FS(3)", "xormaze", "frame", 3),
        Trial("FS(5)", "xormaze", "frame", 5),
        Trial("push_skip(3)", "xormaze", "push_skip", 3),
        Trial("push_skip(3) + bonus", "xormaze", "push_skip", 3, overrides={"intrinsic": "rare"}),
    ]


def paper_trials() -> list[Trial]:
    """All tabular figures of the paper."""
    mazes = [maze_trials(kind, n) for kind in ("passive", "active") for n in LENGTHS]
    return [*(trial for trials in mazes for trial in trials), *xormaze_trials()]


def run_trials(
    trials: Iterable[Trial],
    steps: int = STEPS,
    seeds: Sequence[int] = SEEDS,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Runs trials one after the other, each on all cores."""
    outcomes: list[Outcome] = []
    for trial in trials:
        outcomes.append(run_trial(trial, steps, seeds))
        (progress or Silent()).update(len(outcomes))
    return outcomes


def run_trial(trial: Trial, steps: int = STEPS, seeds: Sequence[int] = SEEDS) -> Outcome:
    """Lets the seeds of a trial learn, and plays their policies."""
    session = trial.session(steps, seeds)
    session.advance(session.blocks)
    return Outcome(trial, _training(session), evaluate(trial, session), session)


def evaluate(trial: Trial, session: Session, task: str | None = None) -> dict[str, Any]:
    """What the greedy policies are worth, on the trial's task or another, by seed."""
    gamma = session.settings.gamma
    evaluator = Evaluator(make_task(task or trial.task), trial.memory, trial.stack_size, gamma)
    rows = [
        evaluator.summary(play(session, evaluator, index, greedy=True, episodes=1000, seed=0))
        for index in range(len(session.seeds))
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _training(session: Session) -> dict[str, Any]:
    curves = session.curves()
    tail = max(1, int(TAIL * len(curves["step"])))
    steps = np.diff(curves["step"], prepend=0)[-tail:]
    attempts = curves["attempts"][:, -tail:]
    successes = np.nan_to_num(curves["success"][:, -tail:]) * attempts
    memory = curves["memory_regret"][:, -tail:] * steps
    return {
        "reward_rate": 1000 * curves["reward"][:, -tail:].sum(axis=1) / steps.sum(),
        "success": successes.sum(axis=1) / np.maximum(attempts.sum(axis=1), 1),
        "memory_regret": memory.sum(axis=1) / steps.sum(),
        "active_regret": curves["active_regret"][:, -tail:].sum(axis=1) / steps.sum(),
        "passive_regret": curves["passive_regret"][:, -tail:].sum(axis=1) / steps.sum(),
    }
