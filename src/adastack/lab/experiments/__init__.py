"""The paper's experiments, a package each, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from adastack.lab.experiment import Experiment

ORDER = (
    *("headline", "tabular", "xormaze", "demir"),
    *("length-scaling", "memory-scaling", "fixed-length", "lstm", "transformer", "grpo"),
    *("generalisation", "fetch", "minigrid", "cube", "cartpole"),
    *("minimal-memory", "consistency", "cost"),
)
"""How lists and reports tell it: the headline, tables, networks, other worlds, theory, cost."""


@cache
def load_experiments() -> dict[str, Experiment]:
    """All experiments by name, as in `ORDER`; others come last.

    Example:
        >>> load_experiments()["xormaze"].where
        'Figures 6a and 31'
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if module.ispkg:
            package = importlib.import_module(f"{__name__}.{module.name}")
            found[package.EXPERIMENT.name] = package.EXPERIMENT
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


def read_page(package: str) -> str:
    """The page.md of an experiment's package."""
    return files(package).joinpath("page.md").read_text(encoding="utf-8")
