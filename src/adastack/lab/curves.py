"""What figures and claims need of a training's curves: a few points, and means over the whole.

A curve has a value for every hundred steps. A figure draws `POINTS` of them; a claim asks for a
number of each seed, which `curve_means` makes of the whole curve before it is thinned.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.memory.regret import REGRETS, SHARES

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
POINTS = 80
"""A curve is drawn by this many points; each is a mean."""
DRAWN = ("reward", "return", "success", "memory_regret")
"""The curves that figures draw."""
DIGITS = 4
"""A drawn point has this many significant digits."""
TENTH = 10
SOLVES = 0.8
"""The share of successful attempts from which on a task counts as learned, while exploring."""


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
    if told:
        means["steps_to_solve"] = _steps_to(metrics, SOLVES)
    for name, curve, since in (
        ("episode_return", "return", 0),
        ("discounted_episode_return", "discounted_return", 0),
        ("end_episode_return", "return", last),
    ):
        means[name] = _episode_mean(metrics[curve][:, since:], metrics["attempts"][:, since:])
    means["mmer"] = _highest_mean(metrics)
    for name in REGRETS:
        if np.isfinite(metrics["memory_regret"]).any() and np.isfinite(metrics[name]).any():
            weight = width if name in SHARES else 1
            means[f"auc_{name}"] = (metrics[name] * weight).sum(axis=1) / steps
    return means


def _episode_mean(values: NDArray[Any], attempts: NDArray[Any]) -> Floats:
    """Means over the attempts; 0 if there was none."""
    total: Floats = np.where(attempts > 0, values * attempts, 0.0).sum(axis=1, dtype=np.float64)
    mean: Floats = total / np.maximum(attempts.sum(axis=1), 1)
    return mean


def _highest_mean(metrics: Arrays) -> Floats:
    """POPGym's MMER: the highest mean return of the attempts of a part of the training."""
    returns, attempts = metrics["return"], metrics["attempts"]
    edges = np.linspace(0, returns.shape[1], min(POINTS, returns.shape[1]) + 1).astype(int)
    paid = np.where(attempts > 0, returns * attempts, 0.0)
    total, tried = (np.add.reduceat(each, edges[:-1], axis=1) for each in (paid, attempts))
    means = np.where(tried > 0, total / np.maximum(tried, 1), -np.inf)
    highest: Floats = means.max(axis=1).astype(np.float64)
    return np.where(np.isfinite(highest), highest, 0.0)


def _steps_to(metrics: Arrays, share: float) -> Floats:
    """Steps until this share of the attempts of a part of the training succeeds; all if never."""
    step, attempts = metrics["step"], metrics["attempts"]
    edges = np.linspace(0, len(step), min(POINTS, len(step)) + 1).astype(int)
    succeeded = np.where(attempts > 0, metrics["success"] * attempts, 0.0)
    good, tried = (np.add.reduceat(counts, edges[:-1], axis=1) for counts in (succeeded, attempts))
    reached = good >= share * np.maximum(tried, 1)
    first = step[edges[1:] - 1][reached.argmax(axis=1)]
    steps: Floats = np.where(reached.any(axis=1), first, step[-1]).astype(np.float64)
    return steps


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
