"""Tabular learning on M_k: one compiled kernel for action values, one for policy gradients."""

from adastack.extras import check_installed

check_installed("numba", extra="train")

from adastack.tabular.session import Session
from adastack.tabular.settings import (
    ALGOS,
    PRESETS,
    GradientSettings,
    Settings,
    ValueSettings,
    settings_for,
)

__all__ = [
    "ALGOS",
    "PRESETS",
    "GradientSettings",
    "Session",
    "Settings",
    "ValueSettings",
    "settings_for",
]
