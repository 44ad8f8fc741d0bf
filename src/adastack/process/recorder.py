"""Curves of rollouts: what happened in a batch of environments, added up in windows."""

# ruff: noqa: ANN001, ANN202 (numba infers the types of compiled functions)
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.process.events import (
    ATTEMPT,
    EVENTS,
    PACKED,
    PAID,
    RECENT,
    REPORTED,
    REWARD,
    WINDOW,
    WINDOWS,
    add_events,
    add_to_attempt,
    all_events,
    check_windows,
    means_of,
    saved_curves,
    unknown_metrics,
    window_arrays,
)
from adastack.schemas import Expected, fitting, like

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
        self.unknown: frozenset[str] = frozenset()
        """The metrics among `REPORTED` that the environment has not reported yet."""
        self.steps = 0
        self._attempts = np.zeros((seeds, envs, 3))
        self.drop_attempts()
        # The window after the full ones is being filled; arrays grow by doubling.
        self._paid: Array = np.zeros((seeds, 1, PAID))
        self._counts: Array = np.zeros((seeds, 1, len(EVENTS)), np.int32)
        self._evictions: Array = np.zeros((seeds, 1, stack_size), np.int32)
        self._learning: list[Array] = []

    def add(self, reward: Array, flags: Array, evicted: Array, learning: Array) -> None:
        """Counts steps of shape (updates, seeds, time, environments).

        Args:
            reward: The rewards.
            flags: The events.
            evicted: The evicted slots.
            learning: (updates, seeds, 7): what the updates say of themselves, as in `LEARNING`.
        """
        updates, _, time, envs = reward.shape
        new = updates * time * envs
        self._update_steps = time * envs
        if not self._learning and self.steps:  # Resumed from a checkpoint that has none.
            before = (self.steps // self._update_steps, *learning.shape[1:])
            self._learning.append(np.full(before, np.nan, np.float32))
        self._learning.append(learning.astype(np.float32))
        self._make_room((self.steps + new) // WINDOW + 1)
        first = self.steps // WINDOW
        _record(
            reward, flags, evicted, self.gamma, self.steps % WINDOW, self._attempts,
            self._paid[:, first:], self._counts[:, first:], self._evictions[:, first:],
        )  # fmt: skip
        self.steps += new

    def _make_room(self, windows: int) -> None:
        missing = windows - self._paid.shape[1]
        if missing > 0:
            more = max(missing, self._paid.shape[1])
            self._paid, self._counts, self._evictions = (
                np.pad(array, ((0, 0), (0, more), (0, 0)))
                for array in (self._paid, self._counts, self._evictions)
            )

    def drop_attempts(self) -> None:
        """Drops the attempts that go on: the environments begin anew."""
        self._attempts[:] = 0.0, 0.0, 1.0

    def curves(self) -> dict[str, Array]:
        """See `curves_of`; also ``evictions`` of shape (seeds, windows, k)."""
        return saved_curves(self.state())

    def recent(self) -> dict[str, float]:
        """Means over the seeds and the last windows, for a progress line."""
        last = slice(max(0, self.steps // WINDOW - RECENT), self.steps // WINDOW + 1)
        steps = (self.steps - last.start * WINDOW) * len(self._paid)
        means = means_of(self._paid[:, last], self._counts[:, last], steps)
        return {name: value for name, value in means.items() if name not in self.unknown}

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold to go on counting."""
        full = self.steps // WINDOW
        used = slice(full + 1)
        learned = {}
        if self._learning:
            self._learning = [np.concatenate(self._learning)]
            learned = {
                f"{WINDOWS}learning": np.ascontiguousarray(self._learning[0].swapaxes(0, 1)),
                f"{WINDOWS}update_steps": np.array([self._update_steps]),
            }
        return {
            **learned,
            f"{WINDOWS}ends": np.arange(1, full + 1) * WINDOW,
            f"{WINDOWS}paid": self._paid[:, used],
            f"{WINDOWS}counts": self._counts[:, used],
            f"{WINDOWS}evictions": self._evictions[:, used],
            f"{WINDOWS}unknown": np.array([name in self.unknown for name in REPORTED]),
            "recorder/attempts": self._attempts,
            "recorder/steps": np.array([self.steps]),
        }

    def expected(self, steps: int) -> dict[str, Expected]:
        """What the `state` in a checkpoint has to be, after so many steps of each seed."""
        seeds, _, slots = self._evictions.shape
        full = steps // WINDOW
        rows = full + 1
        ends = np.arange(1, full + 1) * WINDOW
        return {
            **window_arrays(seeds, ends, rows),
            f"{WINDOWS}counts": Expected((seeds, rows, len(EVENTS)), np.dtype(np.int32), 0, WINDOW),
            f"{WINDOWS}evictions": Expected((seeds, rows, slots), np.dtype(np.int32), 0, WINDOW),
            # Return, discounted return, discount.
            "recorder/attempts": like(self._attempts, (-np.inf, -np.inf, 0), (np.inf, np.inf, 1)),
            "recorder/steps": Expected((1,), np.dtype(np.int64), steps, steps),
        }

    def restore(self, arrays: Mapping[str, Array], steps: int) -> None:
        """Goes on from the `state` in a checkpoint, after so many steps of each seed.

        Raises:
            DamagedFileError: If it is not such a state.
        """
        check_windows(arrays)  # First, so that what is expected is no larger than what is there.
        if len(arrays[f"{WINDOWS}ends"]) != steps // WINDOW:
            raise DamagedFileError("the checkpoint is damaged: its curves have other steps")
        counts = f"{WINDOWS}counts"
        arrays = {**arrays, counts: all_events(arrays[counts])}
        fitting(self.expected(steps), arrays)
        numbers = arrays.get(f"{WINDOWS}learning")
        if numbers is not None and numbers.shape[1] * arrays[f"{WINDOWS}update_steps"][0] != steps:
            raise DamagedFileError("the checkpoint is damaged: its updates have other steps")
        self._attempts = arrays["recorder/attempts"].copy()
        self._paid, self._counts, self._evictions = (
            arrays[f"{WINDOWS}{name}"].copy() for name in ("paid", "counts", "evictions")
        )
        self.steps = int(arrays["recorder/steps"][0])
        self.unknown = unknown_metrics(arrays)
        if f"{WINDOWS}learning" in arrays:
            self._learning = [arrays[f"{WINDOWS}learning"].swapaxes(0, 1)]
            self._update_steps = int(arrays[f"{WINDOWS}update_steps"][0])


@numba.njit(cache=True)
def _record(  # type: ignore[no-untyped-def]
    reward, flags, evicted, gamma, filled, attempts, paid, counts, evictions
):
    updates, seeds, time, envs = reward.shape
    for seed in range(seeds):
        window, count, packed = 0, filled, np.int64(0)
        for update in range(updates):
            for t in range(time):
                for env in range(envs):
                    events = flags[update, seed, t, env]
                    packed += PACKED[events]
                    got = reward[update, seed, t, env]
                    paid[seed, window, REWARD] += got
                    over = events & ATTEMPT
                    add_to_attempt(attempts[seed, env], paid[seed, window], got, gamma, over)
                    evictions[seed, window, evicted[update, seed, t, env]] += 1
                    count += 1
                    if count == WINDOW:
                        add_events(counts[seed, window], packed)
                        window, count, packed = window + 1, 0, np.int64(0)
        add_events(counts[seed, window], packed)
