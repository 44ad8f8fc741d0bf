"""Curves from steps: a point every 100 steps, the same for both roads."""

# ruff: noqa: ANN001, ANN202
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.deep.tables import ACTIVE_REGRET, MEMORY_REGRET, OVER, PASSIVE_REGRET, SUCCESS

WINDOW = 100
NAMES = (
    "reward",
    "return",
    "discounted_return",
    "success",
    "attempts",
    "memory_regret",
    "active_regret",
    "passive_regret",
)
"""Per window: summed reward; means over the attempts that ended in it (NaN if none did); how many
did; the fraction of steps with memory regret; the number with active and with passive regret."""

Array = NDArray[Any]


class Recorder:
    """Counts what happened, seed by seed, and closes a window every 100 steps.

    Args:
        seeds: The number of seeds.
        envs: The environments of each seed; their steps are counted together.
        stack_size: The number of slots, k.
        gamma: The discount of an attempt's return.
    """

    def __init__(self, seeds: int, envs: int, stack_size: int, gamma: float) -> None:
        self.gamma = gamma
        self.running = np.zeros((seeds, envs, 3))
        self.forget()
        self.sums = np.zeros((seeds, len(NAMES)))
        self.evictions = np.zeros((seeds, stack_size), np.int64)
        self.steps = 0
        self._points: list[Array] = []
        self._evicted: list[Array] = []

    def add(self, reward: Array, flags: Array, evicted: Array) -> None:
        """Counts steps of shape (updates, seeds, time, environments)."""
        updates, seeds, time, envs = reward.shape
        points = (self.steps % WINDOW + updates * time * envs) // WINDOW
        out = np.empty((seeds, points, len(NAMES)), np.float32)
        slots = np.empty((seeds, points, self.evictions.shape[1]), np.uint8)
        _record(
            reward, flags, evicted, self.gamma, self.steps % WINDOW,
            self.running, self.sums, self.evictions, out, slots,
        )  # fmt: skip
        self.steps += updates * time * envs
        self._points.append(out)
        self._evicted.append(slots)

    def forget(self) -> None:
        """Drops the attempts that go on: the environments begin anew."""
        self.running[:] = 0.0, 0.0, 1.0

    def recent(self, points: int = 20) -> dict[str, float]:
        """Means over the seeds and the last windows, for a progress line."""
        last = self._joined()[0][:, -points:]
        if last.shape[1] == 0:
            return {}
        ended = last[..., NAMES.index("attempts")]
        total = max(float(ended.sum()), 1.0)
        means = {
            name: float(np.nansum(last[..., NAMES.index(name)] * ended) / total)
            for name in ("return", "success")
        }
        return {**means, "memory_regret": float(last[..., NAMES.index("memory_regret")].mean())}

    def curves(self) -> dict[str, Array]:
        """Arrays of shape (seeds, points), ``step`` (points,), ``evictions`` (seeds, points, k)."""
        points, evicted = self._joined()
        curves = {name: points[..., i] for i, name in enumerate(NAMES)}
        step = np.arange(1, points.shape[1] + 1, dtype=np.int64) * WINDOW
        return {**curves, "step": step, "evictions": evicted}

    def _joined(self) -> tuple[Array, Array]:
        if not self._points:
            seeds, slots = self.evictions.shape
            empty = np.empty((seeds, 0, len(NAMES)), np.float32)
            return empty, np.empty((seeds, 0, slots), np.uint8)
        self._points = [np.concatenate(self._points, axis=1)]
        self._evicted = [np.concatenate(self._evicted, axis=1)]
        return self._points[0], self._evicted[0]

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold to go on counting."""
        points, evicted = self._joined()
        return {
            "running": self.running,
            "sums": self.sums,
            "evictions": self.evictions,
            "steps": np.array([self.steps]),
            "points": points,
            "evicted": evicted,
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Goes on from `state`."""
        self.running, self.sums = state["running"].copy(), state["sums"].copy()
        self.evictions = state["evictions"].copy()
        self.steps = int(state["steps"][0])
        self._points, self._evicted = [state["points"]], [state["evicted"]]


@numba.njit(cache=True)
def _record(  # type: ignore[no-untyped-def]
    reward, flags, evicted, gamma, filled, running, sums, evictions, out, slots
):
    """``running``: return, discounted return and discount of each attempt that goes on."""
    updates, seeds, time, envs = reward.shape
    for seed in range(seeds):
        point, count = 0, filled
        total = sums[seed]
        for update in range(updates):
            for t in range(time):
                for env in range(envs):
                    attempt = running[seed, env]
                    paid, flag = reward[update, seed, t, env], flags[update, seed, t, env]
                    total[0] += paid
                    attempt[0] += paid
                    attempt[1] += attempt[2] * paid
                    attempt[2] *= gamma
                    if flag & OVER:
                        total[1] += attempt[0]
                        total[2] += attempt[1]
                        total[3] += (flag & SUCCESS) > 0
                        total[4] += 1
                        attempt[0], attempt[1], attempt[2] = 0.0, 0.0, 1.0
                    total[5] += (flag & MEMORY_REGRET) > 0
                    total[6] += (flag & ACTIVE_REGRET) > 0
                    total[7] += (flag & PASSIVE_REGRET) > 0
                    evictions[seed, evicted[update, seed, t, env]] += 1
                    count += 1
                    if count == WINDOW:
                        _close(total, evictions[seed], out[seed, point], slots[seed, point])
                        point, count = point + 1, 0


@numba.njit(cache=True)
def _close(total, evictions, out, slots):  # type: ignore[no-untyped-def]
    attempts = total[4]
    for i in range(len(total)):
        out[i] = total[i]
        total[i] = 0.0
    for i in range(1, 4):
        out[i] = out[i] / attempts if attempts > 0 else np.nan
    out[5] /= WINDOW
    for i in range(len(slots)):
        slots[i] = evictions[i]
        evictions[i] = 0
