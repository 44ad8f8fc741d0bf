"""Which module learns by which algorithm; each has ``train`` and ``evaluate``."""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType

LEARNERS = {
    "q": "adastack.tabular.learner",
    "q-lambda": "adastack.tabular.learner",
    "sarsa": "adastack.tabular.learner",
    "expected-sarsa": "adastack.tabular.learner",
    "reinforce": "adastack.tabular.learner",
    "average-reinforce": "adastack.tabular.learner",
    "ppo": "adastack.deep.learner",
    "grpo": "adastack.deep.learner",
}


def learner_of(algo: str) -> ModuleType:
    """The module that learns by an algorithm.

    Raises:
        ValueError: If there is no such algorithm.
    """
    if algo not in LEARNERS:
        close = difflib.get_close_matches(algo, LEARNERS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"--algo must be one of {', '.join(LEARNERS)}, actual: {algo!r}{hint}")
    return importlib.import_module(LEARNERS[algo])


def seed_table_rows(seeds: list[dict[str, object]], columns: dict[str, str]) -> list[list[str]]:
    """Rows of text, one a seed and, for several seeds, their mean."""
    names = [name for name in columns if any(row.get(name) is not None for row in seeds)]
    rows = [[str(row["seed"]), *(_text(row.get(name)) for name in names)] for row in seeds]
    if len(seeds) > 1:
        means = [[v for row in seeds if isinstance(v := row.get(n), int | float)] for n in names]
        rows.append(["mean", *(_text(sum(v) / len(v)) if v else "-" for v in means)])
    return [["seed", *(columns[name] for name in names)], *rows]


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "-"
