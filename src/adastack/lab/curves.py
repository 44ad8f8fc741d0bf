"""What figures and claims need of a training's curves: a few points, and means over the whole.

A curve has a value for every hundred steps. A figure draws `POINTS` of them; a claim asks for a
number of each seed, which `curve_means` makes of the whole curve before it is thinned.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.memory.regret import REGRETS

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
POINTS = 80
"""A curve is drawn by this many points; each is a mean."""
DRAWN = ("reward", "return", "success", "memory_regret")
"""The curves that figures draw."""
DIGITS = 4
"""A drawn point has this many significant digits."""
TENTH = 10


def curve_means(metrics: Arrays) -> dict[str, Floats]:
    """Means over the whole training, one value per seed, of what the environment tells."""
    steps = float(metrics["step"][-1])
    width = np.diff(metrics["step"], prepend=0)
    last = len(width) - max(1, len(width) // TENTH)
    means = {
        "auc_reward": 1000 * metrics["reward"].sum(axis=1) / steps,
        "end_reward": 1000 * metrics["reward"][:, last:].sum(axis=1) / width[last:].sum(),
    }
    told = np.isfinite(metrics["success"]).any() or not metrics["attempts"].any()
    for name in ("return", "success") if told else ("return",):
        means[f"auc_{name}"] = _known_mean(metrics[name])
        means[f"end_{name}"] = _known_mean(metrics[name][:, last:])
    if np.isfinite(metrics["memory_regret"]).any():
        means["auc_memory_regret"] = (metrics["memory_regret"] * width).sum(axis=1) / steps
        for name in REGRETS[1:]:
            means[f"auc_{name}"] = metrics[name].sum(axis=1) / steps
    return means


def _known_mean(values: NDArray[Any]) -> Floats:
    """Means over the windows in which an attempt ended; 0 if none did."""
    known = np.isfinite(values)
    total: Floats = np.where(known, values, 0.0).sum(axis=1, dtype=np.float64)
    mean: Floats = total / np.maximum(known.sum(axis=1), 1)
    return mean


def thinned(metrics: Arrays) -> Arrays:
    """The curves that figures draw, by at most `POINTS` points, rounded; ``step`` beside them.

    Rewards are summed between two points, as they are in a window; all else is a mean.
    """
    step = metrics["step"].astype(np.float64)
    found: Arrays = {}
    for name in DRAWN:
        if name in metrics:
            width = np.diff(step, prepend=0) if name == "reward" else np.ones(len(step))
            ends, means = binned(step, metrics[name] / width)
            width = np.diff(ends, prepend=0) if name == "reward" else np.ones(len(ends))
            found[name] = _rounded(means * width)
    return {"step": binned(step, np.zeros((0, len(step))))[0].astype(np.int64), **found}


def binned(step: Floats, values: Floats) -> tuple[Floats, Floats]:
    """A curve as at most `POINTS` means; windows without a value are left out of theirs."""
    parts = min(POINTS, len(step))
    edges = np.linspace(0, len(step), parts + 1).astype(int)
    ends = step[edges[1:] - 1].astype(np.float64)
    means = np.full((len(values), parts), np.nan)
    for i, (low, high) in enumerate(itertools.pairwise(edges)):
        block = values[:, low:high]
        known = np.isfinite(block)
        count = known.sum(axis=1)
        total = np.where(known, block, 0.0).sum(axis=1)
        np.divide(total, count, out=means[:, i], where=count > 0)
    return ends, means


def _rounded(values: Floats) -> Floats:
    short = [float(f"{value:.{DIGITS}g}") for value in values.ravel().tolist()]
    return np.array(short, np.float64).reshape(values.shape)
