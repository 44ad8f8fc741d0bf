"""Which memory for which problem, in words that follow from the scores and their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adastack.lab.statistics import LEVEL, Floats, Interval, difference_interval, t_interval

LEAST_SEEDS = 2
UNDECIDED = "not decided"
MARGIN = 0.05
"""Less than this share of what memories differ by on a task is no difference that matters."""


@dataclass(frozen=True)
class Gap:
    """How far a memory is below the best."""

    label: str
    gap: float
    interval: Interval

    def __str__(self) -> str:
        return f"{self.label} by {self.gap:.2g} {self.interval}"


@dataclass(frozen=True)
class Standing:
    """How memories stand on one task."""

    task: str
    best: str
    """The one with the highest mean."""
    score: float
    interval: Interval
    """Of the best one's mean."""
    as_good: tuple[str, ...]
    """Shown to be no further below the best than the margin."""
    open: tuple[str, ...]
    """Neither shown to be worse nor to be as good."""
    worse: tuple[Gap, ...]
    """Shown to be worse."""

    @property
    def good(self) -> tuple[str, ...]:
        """The best, and those that are as good."""
        return (self.best, *self.as_good)

    def is_worse(self, label: str) -> bool:
        """Whether a memory is shown to be worse than the best."""
        return any(each.label == label for each in self.worse)

    def __str__(self) -> str:
        said = [f"best: {self.best}, {self.score:.3g} {self.interval}"]
        said += [f"as good: {_listed(self.as_good)}"] if self.as_good else []
        said += [f"worse: {_listed(map(str, self.worse))}"] if self.worse else []
        said += [f"not decided: {_listed(self.open)}"] if self.open else []
        return "; ".join(said)


def standing(task: str, scores: Mapping[str, Floats]) -> Standing | None:
    """How memories stand on a task; None unless two have seeds enough.

    A memory is worse if the interval of its gap to the best is above 0 and the gap above the
    margin, and as good if the interval is below the margin. The intervals are Welch's, and wider
    the more memories there are, so that many are not more easily told apart than two.

    Example:
        >>> scores = {"none": [0.1, 0.2, 0.0], "AS(2)": [1.0, 1.0, 1.0], "GRU": [1.0, 1.0, 1.0]}
        >>> print(standing("repeat-first", scores))
        best: AS(2), 1 [1, 1]; as good: GRU; worse: none by 0.9 [0.542, 1.26]
    """
    known = {label: np.asarray(v, float) for label, v in scores.items() if len(v) >= LEAST_SEEDS}
    if len(known) < LEAST_SEEDS:
        return None
    means = {label: float(values.mean()) for label, values in known.items()}
    best = max(means, key=means.__getitem__)
    margin = MARGIN * (means[best] - min(means.values()))
    level = 1 - (1 - LEVEL) / (len(known) - 1)
    as_good, unclear, worse = [], [], []
    for label, values in known.items():
        if label == best:
            continue
        gap = means[best] - means[label]
        interval = difference_interval(known[best], values, level)
        if interval.low > 0 and gap > margin:
            worse.append(Gap(label, gap, interval))
        elif interval.high <= margin:
            as_good.append(label)
        else:
            unclear.append(label)
    worse.sort(key=lambda each: each.gap)
    return Standing(
        task, best, means[best], t_interval(known[best]),
        tuple(as_good), tuple(unclear), tuple(worse),
    )  # fmt: skip


def advice(found: Standing, carried: Mapping[str, int]) -> str:
    """The memory to take: of those that are as good as the best, the one that carries least.

    None where no memory is told apart from another: more steps or seeds have to. One that carries
    less still, and is not shown to be worse, is named as well.
    """
    if not found.worse and found.open:
        return UNDECIDED
    taken = min(found.good, key=lambda label: carried.get(label, 0))
    lighter = [label for label in found.open if carried.get(label, 0) < carried.get(taken, 0)]
    return f"{taken}; perhaps {_listed(lighter)} will do" if lighter else taken


def summary(standings: Sequence[Standing], ours: Sequence[str]) -> list[str]:
    """Where adaptive stacking wins, where it loses and what is not decided, a sentence each.

    Args:
        standings: How memories stand on each task.
        ours: The labels of adaptive stacking alone.
    """
    wins, loses, level, undecided = [], [], [], []
    for each in standings:
        here = [label for label in ours if _takes_part(each, label)]
        others = [label for label in (*each.as_good, *each.open) if label not in ours]
        if not here:
            continue
        if all(each.is_worse(label) for label in here):
            nearest = min((gap for gap in each.worse if gap.label in here), key=lambda g: g.gap)
            loses.append(f"{each.task} (to {each.best}: {nearest})")
        elif each.best in ours and not others:
            wins.append(each.task)
        elif each.worse and any(label in ours for label in each.good):
            level.append(f"{each.task} (with {_listed(x for x in each.good if x not in ours)})"
                         if any(x not in ours for x in each.good) else each.task)  # fmt: skip
        else:
            undecided.append(each.task)
    name = f"Adaptive stacking ({', '.join(ours)})"
    said = {
        f"{name} wins, everything else being worse, on": wins,
        f"{name} is among the best on": level,
        f"{name} loses on": loses,
        f"Whether {name[0].lower()}{name[1:]} is among the best is not decided on": undecided,
    }
    return [f"{words} {_listed(tasks)}." for words, tasks in said.items() if tasks]


def memory_needed(standings: Sequence[Standing], control: str = "none") -> list[str]:
    """On which tasks a memory is shown to help at all, and on which it is shown not to."""
    needed = [each.task for each in standings if each.is_worse(control)]
    useless = [each.task for each in standings if control in each.as_good]
    useless += [each.task for each in standings if each.best == control and not each.open]
    said = {
        "A memory is shown to help on": needed,
        "Without any memory an agent is as good as the best on": useless,
    }
    return [f"{words} {_listed(tasks)}." for words, tasks in said.items() if tasks]


def _takes_part(found: Standing, label: str) -> bool:
    return label in (*found.good, *found.open) or found.is_worse(label)


def _listed(words: Iterable[str]) -> str:
    found = list(words)
    return ", ".join(found[:-1]) + f" and {found[-1]}" if len(found) > 1 else "".join(found)
