"""Which module learns with which algorithm; each has ``train`` and ``evaluate``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from adastack.tasks import resolve

TABULAR, DEEP = "adastack.tabular.learner", "adastack.deep.learner"
LEARNERS = {
    "q": TABULAR,
    "q-lambda": TABULAR,
    "sarsa": TABULAR,
    "expected-sarsa": TABULAR,
    "reinforce": TABULAR,
    "average-reinforce": TABULAR,
    "ppo": DEEP,
    "grpo": DEEP,
}
"""Each algorithm and the module that learns with it."""


def default_algo(task: str) -> str:
    """The algorithm of a task for which none was asked.

    Example:
        >>> default_algo("passive-tmaze:length=16"), default_algo("cube:depth=2")
        ('sarsa', 'ppo')
    """
    return "sarsa" if resolve(task).kind == "finite" else "ppo"


def check_learns(algo: str, task: str) -> None:
    """Raises if an algorithm learns a table and a task has none."""
    if LEARNERS.get(algo) == TABULAR and default_algo(task) != "sarsa":
        raise ValueError(
            f"expected a finite task for algo {algo}, which learns a table, actual: {task}: "
            "use --algo ppo"
        )


def learner_of(algo: str) -> ModuleType:
    """The module that learns with an algorithm; imported only now.

    Raises:
        ValueError: If there is no such algorithm.
    """
    return importlib.import_module(_module(algo))


def settings_of(algo: str, preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a preset stands for today, with some replaced.

    Raises:
        ValueError: If the algorithm, the preset or a setting is unknown.
    """
    settings = importlib.import_module(_module(algo).replace("learner", "settings"))
    document: dict[str, Any] = settings.as_document(settings.settings_for(preset, algo, overrides))
    return document


def _module(algo: str) -> str:
    if algo not in LEARNERS:
        raise ValueError(f"expected an algorithm of {', '.join(LEARNERS)}, actual: {algo!r}")
    return LEARNERS[algo]
