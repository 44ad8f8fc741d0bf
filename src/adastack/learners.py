"""Which module learns with which algorithm; each has ``train`` and ``evaluate``."""

from __future__ import annotations

import importlib
from types import ModuleType

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
    if algo not in LEARNERS:
        raise ValueError(f"expected an algorithm of {', '.join(LEARNERS)}, actual: {algo!r}")
    return importlib.import_module(LEARNERS[algo])
