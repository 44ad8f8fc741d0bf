"""The formulas, recounted and as printed, and compiled networks of the same shapes."""

from __future__ import annotations

from typing import Any

from adastack.lab.experiment import Scale
from adastack.lab.job import Job

SIZES = [2, 4, 16, 64]


def sweep(scale: Scale) -> list[Job]:
    """Exact computations, and a few compilations."""
    settings: dict[str, Any] = scale.pick(
        paper={"sizes": SIZES},
        smoke={"sizes": [2], "shape": {"layers": 1, "hidden": 16, "batch": 8}},
    )
    return [
        Job("cost", {**settings, "counting": "recounted", "measured": True}),
        Job("cost", {**settings, "counting": "paper", "measured": False}),
    ]
