"""The table of algorithms, what is taken where nothing was asked, and what a learner must offer.

An algorithm is a row of `ALGORITHMS`: where its settings come from and what makes its session. A
session is a run in progress, which `adastack.training` drives, saves and evaluates.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adastack.process.policy import Act
from adastack.settings import check_one_of
from adastack.tasks.entry import Resolved
from adastack.tasks.registry import resolve

Arrays = Mapping[str, NDArray[Any]]


class Session(Protocol):
    """A run in progress."""

    seeds: list[int]
    evaluation_episodes: int
    """Attempts behind the result of a training, where they must be sampled."""

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""

    @property
    def finished(self) -> bool:
        """Whether all steps have been taken."""

    @property
    def savable(self) -> bool:
        """Whether a checkpoint can be taken now."""

    def start(self) -> None:
        """Begins with fresh learners."""

    def advance(self) -> None:
        """Runs for a second or so.

        Raises:
            FloatingPointError: If a loss, an observation or a reward is not a number.
        """

    def restore(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""

    def curves(self) -> dict[str, NDArray[Any]]:
        """Metrics so far, (seeds, windows), and ``step`` (windows,)."""

    def recent(self) -> dict[str, float]:
        """Means over the seeds and the last windows, for a progress line."""

    def extend(self, steps: int) -> None:
        """Adds so many steps to the run; schedules are then a fraction of all of them."""

    def choose(
        self, index: int, stacks: Any, greedy: bool, rng: np.random.Generator,
        state: Any = None, begins: Any = None,
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:  # fmt: skip
        """Actions and memory actions of a seed for a batch of stacks, and what a cell carries.

        That state is None without a cell; with one, None begins episodes, as ``begins`` does.
        """

    def act(self, seed: int, env: Any) -> Act:
        """The greedy policy of a seed, for an environment with the same signals."""

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy: a row for each, and how many steps that took."""


@dataclass(frozen=True)
class Algorithm:
    """A row of the table of algorithms; modules are imported only when they are needed."""

    settings: str
    """``module:function``: (preset, algo, overrides) -> a dataclass of settings."""
    session: str
    """``module:function``: a run's document -> its session."""
    tabular: bool = False
    """Whether it learns a table, and so finite tasks alone."""


_TABULAR = Algorithm(
    "adastack.tabular.settings:settings_for", "adastack.tabular.session:make_session", tabular=True
)
_DEEP = Algorithm("adastack.deep.settings:settings_for", "adastack.deep.sessions:make_session")
ALGORITHMS: dict[str, Algorithm] = {
    "q": _TABULAR,
    "q-lambda": _TABULAR,
    "sarsa": _TABULAR,
    "expected-sarsa": _TABULAR,
    "reinforce": _TABULAR,
    "average-reinforce": _TABULAR,
    "ppo": _DEEP,
    "grpo": _DEEP,
}
"""The algorithms by name; a new one is a module and a row."""


def default_algo(task: str | Resolved) -> str:
    """The algorithm of a task for which none was asked.

    Example:
        >>> default_algo("passive-tmaze:length=16"), default_algo("cube:depth=2")
        ('sarsa', 'ppo')
    """
    return "sarsa" if resolve(task).kind == "finite" else "ppo"


def default_preset(algo: str, task: str | Resolved) -> str:
    """The preset of a task for which none was asked: a world's own, else what learns it best.

    Example:
        >>> default_preset("ppo", "cube:depth=2"), default_preset("ppo", "CartPole-v1")
        ('cube', 'default')
    """
    if algorithm(algo).tabular:
        return "default"
    presets = load("adastack.deep.settings:PRESETS")
    resolved = resolve(task)
    if resolved.name in presets:
        return resolved.name
    return "default"


def default_stack_size(memory: str, k: int | None) -> int:
    """The slots of a memory for which none were asked: 2, or 1 for the one that keeps nothing."""
    if k is not None:
        return k
    return 1 if memory == "none" else 2


def algorithm(algo: str, task: str | Resolved | None = None) -> Algorithm:
    """A row of the table.

    Raises:
        ValueError: If there is no such algorithm, or it cannot learn the task.
    """
    check_one_of("algo", algo, ALGORITHMS)
    row = ALGORITHMS[algo]
    if task is not None and row.tabular and resolve(task).kind != "finite":
        raise ValueError(
            f"expected a finite task for algo {algo}, which learns a table, actual: {task}: "
            "use --algo ppo"
        )
    return row


def settings_for(algo: str, preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a preset stands for today, with some replaced.

    Raises:
        ValueError: If the algorithm, the preset or a setting is unknown.
    """
    return asdict(load(algorithm(algo).settings)(preset, algo, overrides))


def import_sessions() -> None:
    """Imports what every algorithm needs, for a process that others are forked from."""
    for row in set(ALGORITHMS.values()):
        with suppress(ImportError):  # The run that needs it will say what to install.
            load(row.session)


def load(entry_point: str) -> Any:
    """What ``module:name`` stands for."""
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)
