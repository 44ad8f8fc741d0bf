"""Claims put to the test: checks on seeds, and verdicts made of checks.

A check looks at some runs and says whether they show what is claimed, or that they are too few.
Runs shorter than the paper's prove nothing and are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from adastack.lab.results import Results
from adastack.lab.statistics import Floats, difference_interval, summary

PAPER_STEPS = 1_000_000
NOTHING = "no runs that count yet"
"""There may be some that are too short, or too few."""

Status = Literal["holds", "fails", "not enough runs"]


class Verdict(NamedTuple):
    """Whether our results support a claim."""

    status: Status
    measured: str
    """What we found, with its interval and its seeds."""
    needed: str
    """What the claim asks for."""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and how to test it."""

    id: str
    sentence: str
    """The claim, in our words."""
    where: str
    """Where the paper says so."""
    test: Callable[[Results], Verdict] = field(repr=False)


class Found(NamedTuple):
    """What a check found."""

    good: bool
    text: str


Check = Callable[[Results], Found | None]
"""None if there are not enough runs."""


@dataclass(frozen=True)
class Arm:
    """Runs of one kind."""

    label: str
    where: Mapping[str, Any]
    """What their rows have (see `Results.rows`)."""
    least: int = 5
    """How many seeds are needed to judge them."""
    tested: str | None = None
    """The task they are tested on, if it is not the one they were trained on."""

    @property
    def name(self) -> str:
        """The label, and where it is tested if that is elsewhere."""
        return self.label if self.tested is None else f"{self.label}, tested on {self.tested}"

    def values(self, results: Results, metric: str) -> Floats | None:
        """The metric of each seed; None if there are too few."""
        if self.tested is None:
            rows = results.rows(**self.where)
        else:
            rows = results.evaluations(**self.where, tested=self.tested)
        known = [
            float(row[metric])
            for row in rows
            if row["trained_steps"] >= PAPER_STEPS and row.get(metric) is not None
        ]
        return np.array(known) if len(known) >= self.least else None


def all_of(checks: Iterable[Check], needed: str) -> Callable[[Results], Verdict]:
    """A test that holds if every check does; failed checks are listed first."""
    checks = list(checks)

    def test(results: Results) -> Verdict:
        found = [check(results) for check in checks]
        known = sorted((each for each in found if each is not None), key=lambda each: each.good)
        measured = "; ".join(each.text for each in known) or NOTHING
        if len(known) < len(checks):
            return Verdict("not enough runs", measured, needed)
        good = all(each.good for each in known)
        return Verdict("holds" if good else "fails", measured, needed)

    return test


def above(metric: str, first: Arm, second: Arm, margin: float = 0.0) -> Check:
    """The first is higher than the second: the 95% interval of the difference is above a margin."""

    def judge(values: Sequence[Floats], text: str) -> Found:
        interval = difference_interval(values[0], values[1])
        return Found(interval.low > margin, f"{text}, apart by {interval}")

    return _check(metric, (first, second), judge)


def below(metric: str, first: Arm, second: Arm) -> Check:
    """The first is lower than the second."""
    return above(metric, second, first)


def near(metric: str, first: Arm, second: Arm, share: float = 0.1, slack: float = 0.0) -> Check:
    """The mean of the first is no further below the second's than a share of it, or a slack."""
    return _close(metric, first, second, share, slack, sign=1)


def no_more(metric: str, first: Arm, second: Arm, share: float = 0.1, slack: float = 0.0) -> Check:
    """The mean of the first is no further above the second's than a share of it, or a slack."""
    return _close(metric, first, second, share, slack, sign=-1)


def _close(metric: str, first: Arm, second: Arm, share: float, slack: float, sign: int) -> Check:
    def judge(values: Sequence[Floats], text: str) -> Found:
        one, two = (float(each.mean()) for each in values)
        if two > 0:
            text += f", ratio {one / two:.3f}"
        return Found(sign * (one - two) >= -max(share * abs(two), slack), text)

    return _check(metric, (first, second), judge)


def alike(metric: str, arms: Sequence[Arm], share: float = 0.05) -> Check:
    """All means lie within a share of the largest."""

    def judge(values: Sequence[Floats], text: str) -> Found:
        means = [float(each.mean()) for each in values]
        return Found(max(means) - min(means) <= share * abs(max(means)), text)

    return _check(metric, arms, judge)


def between(metric: str, arm: Arm, low: float = -np.inf, high: float = np.inf) -> Check:
    """The mean lies in a range."""
    return _check(
        metric, [arm], lambda values, text: Found(bool(low <= values[0].mean() <= high), text)
    )


def rising(metric: str, arms: Sequence[Arm], slack: float = 0.02) -> Check:
    """The means rise from arm to arm, but for a slack, and the last is above the first."""

    def judge(values: Sequence[Floats], text: str) -> Found:
        means = np.array([each.mean() for each in values])
        text = ", ".join(f"{a.name}: {m:.3g}" for a, m in zip(arms, means, strict=True))
        grows = bool((np.diff(means) >= -slack).all())
        return Found(grows and difference_interval(values[-1], values[0]).low > 0, text)

    return _check(metric, arms, judge)


def falling(metric: str, arms: Sequence[Arm], slack: float = 0.02) -> Check:
    """The means fall from arm to arm."""
    return rising(metric, arms[::-1], slack)


def about(what: str, check: Check) -> Check:
    """The check, with its subject before what it found."""

    def named(results: Results) -> Found | None:
        found = check(results)
        return found and found._replace(text=f"{what}, {found.text}")

    return named


def exactly(kind: str, judge: Callable[[dict[str, Any]], Found | None], **where: Any) -> Check:
    """A check of the answer of an exact computation."""

    def check(results: Results) -> Found | None:
        rows = results.exact(kind, **where)
        return judge(rows[0]) if rows else None

    return check


def _check(
    metric: str, arms: Sequence[Arm], judge: Callable[[Sequence[Floats], str], Found]
) -> Check:
    """A check of the metric of some arms; ``judge`` is given the seeds of each and their means."""

    def check(results: Results) -> Found | None:
        found = [arm.values(results, metric) for arm in arms]
        values = [each for each in found if each is not None]
        if len(values) < len(arms):
            return None
        text = ", ".join(f"{a.name}: {summary(v)}" for a, v in zip(arms, values, strict=True))
        return judge(values, text)

    return check


def evaluate(claims: Iterable[Claim], results: Results) -> list[tuple[Claim, Verdict]]:
    """Each claim with its verdict."""
    return [(claim, claim.test(results)) for claim in claims]
