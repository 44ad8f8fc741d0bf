"""A picture of how a run learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

POINTS = 100
"""Windows are averaged into about this many points."""


def plot_curves(curves: Mapping[str, NDArray[Any]], metrics: Sequence[str]) -> Any:
    """A matplotlib figure with a panel for each metric: every seed thin, their mean bold.

    Args:
        curves: Arrays (seeds, windows), and ``step`` (windows,).
        metrics: Which of them; those that are nowhere known are left out.
    """
    from matplotlib.figure import Figure

    known = [name for name in metrics if np.isfinite(curves[name]).any()] or list(metrics[:1])
    figure = Figure(figsize=(4.2 * len(known), 3.0), layout="constrained")
    for axes, name in zip(np.ravel(figure.subplots(1, len(known))), known, strict=True):
        step, values = smoothed(curves["step"], curves[name], curves["attempts"])
        for seed in values:
            axes.plot(step, seed, color="tab:blue", alpha=0.3, linewidth=1)
        axes.plot(step, _mean(values), color="tab:blue", linewidth=2)
        axes.set_xlabel("environment steps")
        axes.set_ylabel(f"{name.replace('_', ' ')} of an attempt")
        axes.grid(alpha=0.3)
    return figure


def smoothed(
    step: NDArray[Any], values: NDArray[Any], attempts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means over the attempts of several windows; NaN where no attempt ended."""
    parts = np.array_split(np.arange(len(step)), min(POINTS, max(1, len(step))))
    ends = np.array([step[part[-1]] for part in parts if len(part)])
    weights = [attempts[:, part] for part in parts if len(part)]
    sums = [np.nansum(values[:, part] * attempts[:, part], axis=1) for part in parts if len(part)]
    number = np.array([weight.sum(axis=1) for weight in weights]).T
    total = np.array(sums).T
    return ends, np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _mean(values: NDArray[Any]) -> NDArray[Any]:
    known = np.isfinite(values)
    total = np.where(known, values, 0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
