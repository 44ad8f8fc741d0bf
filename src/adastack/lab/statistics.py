"""Statistics over seeds: means, intervals and comparisons, as pure functions on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Floats = NDArray[np.float64]
LEVEL = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """A range that holds the true value with a given confidence."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class Summary:
    """Statistics of one group of seeds."""

    count: int
    mean: float
    sd: float
    """The standard deviation of the seeds; 0 for a single one."""
    interval: Interval
    """Of the mean, by Student's t."""

    def __str__(self) -> str:
        return f"{self.mean:.3g} ± {self.sd:.2g} (n={self.count})"


def summary(values: ArrayLike, level: float = LEVEL) -> Summary:
    """Mean, standard deviation and interval of some seeds.

    Example:
        >>> str(summary([1.0, 2.0, 3.0]))
        '2 ± 1 (n=3)'
    """
    array = _known(values)
    return Summary(len(array), float(array.mean()), deviation(array), t_interval(array, level))


def deviation(values: ArrayLike) -> float:
    """The standard deviation of a sample; 0 for a single value, and for equal ones."""
    array = _known(values)
    # The mean of equal values is rounded, so their deviation would be a little more than 0.
    return float(array.std(ddof=1)) if np.ptp(array) > 0 else 0.0


def t_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Student's interval of a mean; of a single value it is everything."""
    array = _known(values)
    mean = float(array.mean())
    if len(array) == 1:
        return Interval(-np.inf, np.inf)
    half = _t(level, len(array) - 1) * deviation(array) / np.sqrt(len(array))
    return Interval(mean - half, mean + half)


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """An interval of a mean: Wilson's where there are two values only, else Student's.

    Seeds that either solve a task or stay at chance are counted rather than averaged.

    Example:
        >>> str(mean_interval([0.5, 1, 1, 1]))
        '[0.65, 0.977]'
    """
    array = _known(values)
    low, high = float(array.min()), float(array.max())
    if not _two_valued(array):
        return t_interval(array, level)
    share = wilson_interval(int((array == high).sum()), len(array), level)
    return Interval(low + (high - low) * share.low, low + (high - low) * share.high)


def difference_interval(first: ArrayLike, second: ArrayLike, level: float = LEVEL) -> Interval:
    """Welch's interval of the difference of two means, first less second."""
    return _welch([_known(first), _known(second)], (1, -1), level)


def contrast_interval(
    groups: Sequence[ArrayLike], weights: Sequence[float] | Floats, level: float = LEVEL
) -> Interval:
    """The interval of a weighted sum of the means of groups of seeds.

    By Welch's approximation; where a group has two values only, as seeds that solve a task or do
    not, by joining Wilson's intervals of all groups within the range of their values (for two
    proportions that is Newcombe's).

    Args:
        groups: The seeds of each.
        weights: One for each group.
        level: The confidence.

    Example:
        >>> str(contrast_interval([[1, 1, 1, 1], [0, 0, 1, 0]], (1, -1)))
        '[0.0852, 0.954]'
    """
    arrays = [_known(group) for group in groups]
    if min(len(array) for array in arrays) > 1 and any(map(_two_valued, arrays)):
        return _joined(arrays, weights, level)
    return _welch(arrays, weights, level)


def _welch(arrays: Sequence[Floats], weights: Sequence[float] | Floats, level: float) -> Interval:
    """Welch's interval; it is everything where a group has a single seed."""
    if min(len(array) for array in arrays) == 1:
        return Interval(-np.inf, np.inf)
    centre = _contrast(arrays, weights)
    parts = np.array(
        [(w * deviation(a)) ** 2 / len(a) for w, a in zip(weights, arrays, strict=True)]
    )
    if parts.sum() == 0:
        return Interval(centre, centre)
    freedom = parts.sum() ** 2 / (parts**2 / [len(a) - 1 for a in arrays]).sum()
    half = _t(level, freedom) * float(np.sqrt(parts.sum()))
    return Interval(centre - half, centre + half)


def _joined(arrays: Sequence[Floats], weights: Sequence[float] | Floats, level: float) -> Interval:
    centre = _contrast(arrays, weights)
    low = float(min(array.min() for array in arrays))
    span = float(max(array.max() for array in arrays)) - low
    down = up = 0.0
    for weight, array in zip(weights, arrays, strict=True):
        share = min(1.0, max(0.0, (float(array.mean()) - low) / span))
        found = _wilson(share, len(array), level)
        ends = sorted((weight * span * (found.low - share), weight * span * (found.high - share)))
        down, up = down + ends[0] ** 2, up + ends[1] ** 2
    return Interval(centre - float(np.sqrt(down)), centre + float(np.sqrt(up)))


def _contrast(arrays: Sequence[Floats], weights: Sequence[float] | Floats) -> float:
    return float(sum(w * a.mean() for w, a in zip(weights, arrays, strict=True)))


def _two_valued(array: Floats) -> bool:
    return len(np.unique(array)) == 2


def iqm(scores: ArrayLike) -> float:
    """The mean of the middle half of all scores.

    Example:
        >>> iqm([0, 1, 2, 100])
        1.5
    """
    return float(_middle_means(_known(scores).ravel()))


def bootstrap_interval(
    scores: ArrayLike,
    statistic: Callable[[Floats], Floats] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """A stratified bootstrap: the seeds of each task are drawn anew, task by task.

    Args:
        scores: (seeds, tasks), or (seeds,) of a single task.
        statistic: What is computed over the last axis of (resamples, scores); `iqm` if not given.
        seed: Where the random numbers come from.
        resamples: How often the seeds are drawn.
        level: The share of the draws that lie in the interval.
    """
    table = _known(scores)
    table = table.reshape(len(table), -1)
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, len(table), (resamples, *table.shape))
    drawn = table[rows, np.arange(table.shape[1])].reshape(resamples, -1)
    found = (statistic or _middle_means)(drawn)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def probability_of_improvement(first: ArrayLike, second: ArrayLike) -> float:
    """The chance that a seed of the first beats one of the second, ties half, mean over tasks.

    Args:
        first: (seeds, tasks), or (seeds,) of a single task.
        second: The same tasks; the number of seeds may differ.

    Example:
        >>> probability_of_improvement([1, 2], [0, 2])
        0.625
    """
    one, two = (_known(scores) for scores in (first, second))
    one, two = one.reshape(len(one), -1), two.reshape(len(two), -1)
    if one.shape[1] != two.shape[1]:
        raise ValueError(f"expected the same tasks, actual: {one.shape[1]} and {two.shape[1]}")
    gaps = one[:, None, :] - two[None, :, :]
    return float(((gaps > 0) + 0.5 * (gaps == 0)).mean())


def solved(values: ArrayLike, threshold: float) -> tuple[int, int]:
    """How many values reach a threshold, and of how many."""
    array = _known(values)
    return int((array >= threshold).sum()), len(array)


def wilson_interval(successes: int, count: int, level: float = LEVEL) -> Interval:
    """Wilson's interval of a probability, after some successes among a count.

    Example:
        >>> str(wilson_interval(20, 20))
        '[0.839, 1]'
    """
    if count < 1 or not 0 <= successes <= count:
        raise ValueError(f"expected successes in 0..{count} of at least 1, actual: {successes}")
    return _wilson(successes / count, count, level)


def _wilson(share: float, count: int, level: float) -> Interval:
    """For the mean of any values in 0..1, too: none vary more than zeros and ones."""
    z = float(stats.norm.ppf((1 + level) / 2))
    centre = share + z * z / (2 * count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if share == 0 else float((centre - half) / scale)
    high = 1.0 if share == 1 else float((centre + half) / scale)
    return Interval(low, high)


def _middle_means(scores: Floats) -> Floats:
    """The mean of the middle half, over the last axis."""
    ordered = np.sort(scores, axis=-1)
    cut = ordered.shape[-1] // 4
    means: Floats = ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1)
    return means


def _t(level: float, freedom: float) -> float:
    return float(stats.t.ppf((1 + level) / 2, freedom))


def _known(values: ArrayLike) -> Floats:
    """The values as numbers; a statistic of nothing, or of what is not a number, is refused."""
    array = np.asarray(values, np.float64)
    if array.size == 0:
        raise ValueError("expected at least one value, actual: none")
    if not np.isfinite(array).all():
        raise ValueError("expected finite values, actual: some that are not")
    return array
