"""What the steps of a run count for: names, flags, and how they are added up.

A step's events are *flags*, one bit each, in a byte: that is how tables and rollouts hold them.
Counting many steps adds up `PACKED` words, in which each event has a counter of seven bits, so
that a step costs one addition; after at most 127 steps `add_events` unpacks them. A new event is a
name here and a bit in `step_flags`.
"""

# ruff: noqa: ANN001, ANN201 (numba infers the types of compiled functions)
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.memory.regret import REGRETS, SHARES, Regrets
from adastack.process.compiled import inlined
from adastack.schemas import Expected, fitting

EVENTS = ("attempts", "successes", *REGRETS)
"""What is counted, in the order of the bits."""
ATTEMPT, SUCCESS, MEMORY, ACTIVE, PASSIVE, AFTER = (1 << bit for bit in range(len(EVENTS)))
"""The bits: an attempt ended; it succeeded; the regrets."""
WHILE_GOING_ON = ACTIVE | PASSIVE | AFTER
"""Events that do not count on a step that ends an attempt: nothing has to be kept then."""
COUNTER_BITS = 7
_COUNTER = (1 << COUNTER_BITS) - 1
PACKED = np.array(
    [
        sum(1 << (COUNTER_BITS * bit) for bit in range(len(EVENTS)) if flags >> bit & 1)
        for flags in range(1 << len(EVENTS))
    ],
    np.int64,
)
"""(flags,): counters of one step with these events."""

REPORTED = ("success", *REGRETS)
"""Metrics that are known only where the environment says what they need."""

REWARD, RETURN, DISCOUNTED = range(3)
"""The sums of a window: reward; returns and discounted returns of the attempts that ended."""
PAID = 3
WINDOW = 100
"""Steps between two points of a curve."""
WINDOWS = "windows/"
"""What the arrays of windows are called in a checkpoint: paid, counts, ends, unknown."""
LEARNING = (
    *("loss", "policy_loss", "value_loss"),
    *("entropy", "memory_entropy", "kl", "clip_fraction"),
)
"""What an update of a network says of itself: the mean loss; the rest once it is done."""
RECENT = 20
"""Windows behind the numbers of a progress line."""

Flags = NDArray[np.uint8]
Array = NDArray[Any]


def step_flags(ended: Any, success: Any, regrets: Regrets | None) -> Any:
    """The flags of a batch of steps, as numpy or JAX arrays."""
    flags = ended * ATTEMPT | (ended & success) * SUCCESS
    if regrets is not None:
        for bit, regretted in zip((MEMORY, ACTIVE, PASSIVE, AFTER), regrets, strict=True):
            flags = flags | regretted * bit
    return flags.astype(np.uint8)


def counts_of(flags: Flags) -> Array:
    """(events,): how often each event occurs in an array of flags."""
    return np.array([np.count_nonzero(flags & (1 << bit)) for bit in range(len(EVENTS))])


@inlined
def add_to_attempt(attempt, paid, reward, gamma, over):  # type: ignore[no-untyped-def]
    """Adds a reward to the running attempt, and its returns to a window once it is over.

    ``attempt``: return, discounted return and discount of the attempt so far.
    """
    attempt[0] += reward
    attempt[1] += attempt[2] * reward
    attempt[2] *= gamma
    if over:
        paid[RETURN] += attempt[0]
        paid[DISCOUNTED] += attempt[1]
        attempt[0], attempt[1], attempt[2] = 0.0, 0.0, 1.0


@inlined
def add_events(counts, packed):  # type: ignore[no-untyped-def]
    """Adds packed counters to a row of counts."""
    for i in range(len(EVENTS)):
        counts[i] += (packed >> (COUNTER_BITS * i)) & _COUNTER


def curves_of(paid: Array, counts: Array, ends: Array) -> dict[str, Array]:
    """Curves from the sums of windows.

    Per window: summed reward; mean return, discounted return and success of the attempts that
    ended in it (NaN if none did) and their number; the fraction of steps with memory regret, before
    and after the step; the number of steps with active and with passive regret.

    Args:
        paid: (seeds, windows, 3): `REWARD`, `RETURN` and `DISCOUNTED`.
        counts: (seeds, windows, events).
        ends: (windows,): the step with which each window ends.
    """
    number = {name: counts[..., i].astype(np.float64) for i, name in enumerate(EVENTS)}
    attempts = np.where(number["attempts"] > 0, number["attempts"], np.nan)
    return {
        "step": ends.astype(np.int64),
        "reward": paid[..., REWARD],
        "return": paid[..., RETURN] / attempts,
        "discounted_return": paid[..., DISCOUNTED] / attempts,
        "success": number["successes"] / attempts,
        "attempts": number["attempts"],
        **{name: number[name] for name in REGRETS},
        **{name: number[name] / np.diff(ends, prepend=0) for name in SHARES},
    }


def all_events(counts: Array) -> Array:
    """Counts from a checkpoint, with zeros for the events that were not counted when it was made.

    ``counts``: (..., events).
    """
    missing = len(EVENTS) - counts.shape[-1]
    return np.pad(counts, [(0, 0)] * (counts.ndim - 1) + [(0, missing)]) if missing else counts


def window_arrays(seeds: int, ends: Array, rows: int) -> dict[str, Expected]:
    """What the windows of a checkpoint have to be; the last of ``rows`` may be unfinished."""
    return {
        f"{WINDOWS}ends": Expected(ends.shape, np.dtype(np.int64), ends, ends),
        f"{WINDOWS}paid": Expected((seeds, rows, PAID), np.dtype(np.float64)),
    }


def check_windows(arrays: Mapping[str, Array]) -> None:
    """Raises DamagedFileError unless a checkpoint holds curves, whoever learned them."""
    ends, paid = arrays.get(f"{WINDOWS}ends"), arrays.get(f"{WINDOWS}paid")
    if ends is None or ends.ndim != 1 or paid is None or paid.ndim != 3:
        raise DamagedFileError("the checkpoint is damaged: it has no curves")
    rising = np.diff(ends, prepend=0)
    if paid.shape[1] < len(ends) or (len(ends) and rising.min() <= 0):
        raise DamagedFileError("the checkpoint is damaged: its curves have other steps")
    seeds, rows = paid.shape[:2]
    fitting(window_arrays(seeds, ends, rows), arrays)
    counts = arrays.get(f"{WINDOWS}counts")
    if (
        counts is None
        or counts.dtype.kind != "i"
        or counts.shape not in [(seeds, rows, n + 1) for n in range(len(EVENTS))]
        or (counts.size and counts.min() < 0)
    ):
        raise DamagedFileError("the checkpoint is damaged: its curves count something else")
    unknown, evictions = (arrays.get(f"{WINDOWS}{name}") for name in ("unknown", "evictions"))
    if unknown is not None and (
        unknown.ndim != 1 or len(unknown) > len(REPORTED) or unknown.dtype != bool
    ):
        raise DamagedFileError("the checkpoint is damaged: unknown metrics")
    if evictions is not None and (evictions.ndim != 3 or evictions.shape[:2] != (seeds, rows)):
        raise DamagedFileError("the checkpoint is damaged: evictions of other windows")
    if f"{WINDOWS}learning" in arrays:
        _check_learning(arrays, seeds, int(ends[-1]) if len(ends) else 0)


def _check_learning(arrays: Mapping[str, Array], seeds: int, last: int) -> None:
    numbers = arrays[f"{WINDOWS}learning"]
    steps = arrays.get(f"{WINDOWS}update_steps", np.zeros(0))
    shaped = numbers.ndim == 3 and (seeds, len(LEARNING)) == numbers.shape[::2]
    counted = steps.shape == (1,) and steps.dtype == np.int64 and steps[0] > 0
    if not (
        shaped and counted and numbers.dtype == np.float32 and last <= numbers.shape[1] * steps[0]
    ):
        raise DamagedFileError("the checkpoint is damaged: updates of other windows")


def saved_curves(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The curves in a checkpoint: see `curves_of`; also ``evictions``, where they are counted.

    Metrics of which the environment says nothing are NaN. Runs of networks have `LEARNING`, too:
    in each window that of the update which the window ends in.
    """
    ends = arrays[f"{WINDOWS}ends"]
    full = slice(len(ends))
    paid, counts = (arrays[f"{WINDOWS}{name}"][:, full] for name in ("paid", "counts"))
    uncounted = EVENTS[counts.shape[-1] :]
    curves = curves_of(paid, all_events(counts), ends)
    for name in {*unknown_metrics(arrays), *uncounted}:
        curves[name] = np.full_like(curves[name], np.nan)
    if f"{WINDOWS}evictions" in arrays:
        curves["evictions"] = arrays[f"{WINDOWS}evictions"][:, full]
    if f"{WINDOWS}learning" in arrays:
        numbers, steps = (arrays[f"{WINDOWS}{name}"] for name in ("learning", "update_steps"))
        of_update = numbers[:, (ends - 1) // steps[0]].astype(np.float64)
        curves |= {name: of_update[..., i] for i, name in enumerate(LEARNING)}
    return curves


def regrets_of(per_step: Mapping[str, float], per_attempt: Mapping[str, float]) -> dict[str, float]:
    """As results have them: memory regrets as fractions of steps, the others per attempt."""
    return {name: (per_step if name in SHARES else per_attempt)[name] for name in REGRETS}


def unknown_metrics(arrays: Mapping[str, Array]) -> frozenset[str]:
    """The metrics of a checkpoint of which the environment says nothing."""
    unknown = arrays.get(f"{WINDOWS}unknown", np.zeros(len(REPORTED)))
    # Older checkpoints know fewer metrics.
    return frozenset(
        name for name, is_unknown in zip(REPORTED, unknown, strict=False) if is_unknown
    )


def means_of(paid: Array, counts: Array, steps: int) -> dict[str, float]:
    """Means over the seeds and some windows of so many steps in all, for a progress line."""
    sums, number = paid.sum(axis=(0, 1)), dict(zip(EVENTS, counts.sum(axis=(0, 1)), strict=True))
    attempts = max(number["attempts"], 1)
    return {
        "reward_rate": float(1000 * sums[REWARD] / max(steps, 1)),
        "return": float(sums[RETURN] / attempts),
        "success": float(number["successes"] / attempts),
        "memory_regret": float(number["memory_regret"] / max(steps, 1)),
    }
