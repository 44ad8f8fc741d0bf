"""A picture of how a run learned."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.extras import check_installed
from adastack.memory.regret import REGRETS, SHARES

POINTS = 100
"""Windows are averaged into about this many points."""
UNITS = {
    "success": "success, fraction",
    **{name: f"{name.replace('_', ' ')} per 100 steps" for name in REGRETS},
    **{name: f"{name.replace('_', ' ')} per step" for name in SHARES},
}
"""What an axis says where a metric is not a mean over attempts."""


def picture_of(curves: Mapping[str, NDArray[Any]]) -> bytes:
    """Return, success and memory regret over the training, as a PNG."""
    return _png(plot_curves(curves, ("return", "success", "memory_regret")))


def _png(figure: Any) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, dpi=100)
    return content.getvalue()


def plot_curves(curves: Mapping[str, NDArray[Any]], metrics: Sequence[str]) -> Any:
    """A matplotlib figure with a panel for each metric: every seed thin, their mean bold.

    Args:
        curves: Arrays (seeds, windows), and ``step`` (windows,).
        metrics: Which of them; those that are nowhere known are left out.
    """
    check_installed("matplotlib", extra="train")
    from matplotlib.figure import Figure

    known = [name for name in metrics if np.isfinite(curves[name]).any()] or list(metrics[:1])
    figure = Figure(figsize=(4.2 * len(known), 3.0), layout="constrained")
    for axes, name in zip(np.ravel(figure.subplots(1, len(known))), known, strict=True):
        step, values = smoothed(curves["step"], curves[name], curves["attempts"])
        for seed in values:
            axes.plot(step, seed, color="tab:blue", alpha=0.3, linewidth=1)
        axes.plot(step, _mean(values), color="tab:blue", linewidth=2)
        axes.set_xlabel("environment steps")
        axes.set_ylabel(UNITS.get(name, f"{name.replace('_', ' ')} per attempt"))
        axes.grid(alpha=0.3)
    # Notebooks show a figure by themselves only if pyplot made it.
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def smoothed(
    step: NDArray[Any], values: NDArray[Any], attempts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means over the attempts of several windows; NaN where no attempt ended."""
    if not len(step):
        return step, values
    parts = np.array_split(np.arange(len(step)), min(POINTS, len(step)))
    ends = np.array([step[part[-1]] for part in parts])
    number = np.array([attempts[:, part].sum(axis=1) for part in parts]).T
    total = np.array([np.nansum(values[:, part] * attempts[:, part], axis=1) for part in parts]).T
    return ends, np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _mean(values: NDArray[Any]) -> NDArray[Any]:
    known = np.isfinite(values)
    total = np.where(known, values, 0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
