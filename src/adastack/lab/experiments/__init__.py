"""The paper's experiments: each is a module with an `EXPERIMENT`, and a page of the same name.

A page begins with the title and, on the next line, the experiment's place in the paper.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from adastack.lab.experiment import Experiment

ORDER = (
    *("headline", "best-checkpoint", "tabular", "xormaze", "demir"),
    *("length-scaling", "memory-scaling", "fixed-length", "lstm", "transformer", "grpo"),
    *("generalisation", "fetch", "minigrid", "cube", "cartpole", "world-settings"),
    *("minimal-memory", "consistency", "theorems", "cost", "league", "league-lengths"),
)
"""The order in lists and reports: the headline, tables, networks, other worlds, theory, cost, and
what is not in the paper."""


@cache
def load_experiments() -> dict[str, Experiment]:
    """All experiments by name, as in `ORDER`; others come last.

    Example:
        >>> load_experiments()["xormaze"].where
        'Figures 6a and 31'
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        experiment: Experiment = importlib.import_module(f"{__name__}.{module.name}").EXPERIMENT
        text = files(__name__).joinpath(f"{module.name}.md").read_text(encoding="utf-8")
        head, _, page = text.partition("\n\n")
        title, where = head.removeprefix("# ").split("\n")
        name = module.name.replace("_", "-")
        found[name] = replace(experiment, name=name, title=title, where=where, page=page)
    return {name: found[name] for name in (*ORDER, *found)}


def choose_experiments(names: Sequence[str]) -> dict[str, Experiment]:
    """The experiments with these names, in the order of all; ``all`` stands for every one."""
    known = load_experiments()
    expected = f"expected experiments of {', '.join(known)}, or all"
    if not names:
        raise ValueError(expected)
    for name in names:
        if name not in known and name != "all":
            raise ValueError(f"{expected}, actual: {name!r}")
    return {name: each for name, each in known.items() if {name, "all"} & set(names)}
