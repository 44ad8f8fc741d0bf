"""Which module learns with which algorithm; each has ``train`` and ``evaluate``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

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
