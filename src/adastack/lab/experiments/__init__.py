"""The paper's experiments, a package each, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.resources import files

from adastack.lab.experiment import Experiment


@cache
def load_experiments() -> dict[str, Experiment]:
    """All experiments by name, in alphabetical order.

    Example:
        >>> load_experiments()["xormaze"].where
        'Figures 6a and 31'
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if module.ispkg:
            package = importlib.import_module(f"{__name__}.{module.name}")
            found[package.EXPERIMENT.name] = package.EXPERIMENT
    return found


def read_page(package: str) -> str:
    """The page.md of an experiment's package."""
    return files(package).joinpath("page.md").read_text(encoding="utf-8")
