"""Checks of claims: some runs, compared with a bound.

A check says by an interval whether the runs show what is claimed, the opposite, or neither. Runs
shorter than the paper's prove nothing and are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adastack.lab.claims import Arm, Check, Effect, Found, badness
from adastack.lab.results import Results
from adastack.lab.statistics import (
    LEVEL,
    Floats,
    Interval,
    contrast_interval,
    mean_interval,
    solved,
    summary,
    wilson_interval,
)

MOST_SEEDS = 1000
"""A difference that needs more seeds than this is not looked for."""
TINY = 1e-12
EQUAL = 5
"""Seeds without any spread are believed from so many on: three that agree may do so by chance."""


def judged(good: bool, text: str) -> Found:
    """What an exact answer says."""
    return Found("holds" if good else "refuted", text)


def above(metric: str, first: Arm, second: Arm, margin: float = 0.0) -> Check:
    """The first is higher than the second: the interval of the difference is above a margin."""

    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        apart = contrast_interval(values, (1, -1))
        text = f"{text}, apart by {apart}"
        return _decided(values, (1, -1), -margin, text, parts, strict=True)

    return _check(metric, (first, second), judge)


def below(metric: str, first: Arm, second: Arm) -> Check:
    """The first is lower than the second."""
    return above(metric, second, first)


def near(
    metric: str,
    first: Arm,
    second: Arm,
    share: float = 0.1,
    slack: float = 0.0,
    chance: float | None = 0.0,
) -> Check:
    """The first is no further below the second than a share of it, or a slack.

    Args:
        metric: What is compared.
        first: The runs that are judged.
        second: What they are measured by.
        share: How much less is still near.
        slack: The same as a number.
        chance: What a policy gets that has learned nothing; runs that are not shown to be above it
            are no measure. None if there is no such number.
    """
    return _close(metric, first, second, (share, slack), chance, sign=1)


def no_more(metric: str, first: Arm, second: Arm, share: float = 0.1, slack: float = 0.0) -> Check:
    """The first is no further above the second than a share of it, or a slack."""
    return _close(metric, first, second, (share, slack), None, sign=-1)


def _close(
    metric: str,
    first: Arm,
    second: Arm,
    allowed: tuple[float, float],
    chance: float | None,
    sign: int,
) -> Check:
    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        one, two = (float(each.mean()) for each in values)
        if two > 0:
            text += f", ratio {one / two:.3f}"
        if chance is not None and mean_interval(values[1]).low <= chance:
            return Found("empty", f"{text} ({second.name} is not above chance)")
        share, slack = allowed
        if slack > share * abs(two):
            return _decided(values, (sign, -sign), slack, text, parts)
        # A share of the second is off by as much as the second is.
        weight = np.sign(two) * share - sign
        return _decided(values, (sign, weight), 0.0, text, parts)

    return _check(metric, (first, second), judge)


def alike(metric: str, arms: Sequence[Arm], share: float = 0.05) -> Check:
    """All means lie within a share of the largest."""

    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        best = max(values, key=lambda each: float(each.mean()))
        others = [each for each in values if each is not best]
        found = [_decided([each, best], (1, share - 1), 0.0, text, parts) for each in others]
        return min(found, key=badness)

    return _check(metric, arms, judge)


def between(metric: str, arm: Arm, low: float = -np.inf, high: float = np.inf) -> Check:
    """The mean lies in a range: so does its interval."""

    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        text = f"{text} {mean_interval(values[0])}"
        found = [
            _decided(values, (sign,), -sign * bound, text, parts)
            for sign, bound in ((1, low), (-1, high))
            if np.isfinite(bound)
        ]
        return min(found, key=badness)

    return _check(metric, [arm], judge)


def solves(metric: str, arm: Arm, threshold: float, share: float = 0.5) -> Check:
    """More than a share of the seeds reach a threshold, by Wilson's interval."""
    return _counted(metric, arm, threshold, share, sign=1)


def unsolved(metric: str, arm: Arm, threshold: float, share: float = 0.5) -> Check:
    """Fewer than a share of the seeds reach a threshold, by Wilson's interval."""
    return _counted(metric, arm, threshold, share, sign=-1)


def within(metric: str, arm: Arm, most: float, share: float = 0.5) -> Check:
    """More than a share of the seeds need no more than this, by Wilson's interval."""
    return _counted(metric, arm, most, share, sign=1, reaches=False)


def _counted(
    metric: str, arm: Arm, threshold: float, share: float, sign: int, reaches: bool = True
) -> Check:
    """``reaches``: whether seeds count that are at least at the threshold, or at most."""

    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        side = 1 if reaches else -1
        good, count = solved(side * values[0], side * threshold)
        does = "reach" if reaches else "need at most"
        shares = wilson_interval(good, count)
        text = f"{text}, {good} of {count} seeds {does} {threshold:g} {shares}"

        def margin(level: float) -> Interval:
            found = wilson_interval(good, count, level)
            ends = sorted((sign * (found.low - share), sign * (found.high - share)))
            return Interval(*ends)

        return _by_interval(margin, sign * (good / count - share), count, 1.0, text, parts)

    return _check(metric, [arm], judge)


def rising(metric: str, arms: Sequence[Arm], slack: float = 0.02) -> Check:
    """The means rise along the arms: their slope is above 0, and no step is down but for a slack.

    A step down counts against it if its interval is all beyond the slack.
    """

    def judge(values: Sequence[Floats], text: str, parts: int) -> Found:
        text = ", ".join(
            f"{arm.name}: {each.mean():.3g}" for arm, each in zip(arms, values, strict=True)
        )
        place = np.arange(len(arms)) - (len(arms) - 1) / 2
        slope = _decided(values, place / (place @ place), 0.0, text, parts, strict=True)
        looked = parts * (len(arms) - 1)
        steps = [
            _decided(values[i : i + 2], (-1, 1), slack, text, looked) for i in range(len(arms) - 1)
        ]
        down = [step for step in steps if step.status == "refuted"]
        return down[0] if down else slope

    return _check(metric, arms, judge)


def falling(metric: str, arms: Sequence[Arm], slack: float = 0.02) -> Check:
    """The means fall along the arms."""
    return rising(metric, arms[::-1], slack)


def about(what: str, check: Check) -> Check:
    """The check, with its subject before what it found."""

    def named(results: Results, parts: int = 1) -> Found | None:
        found = check(results, parts)
        return found and found._replace(text=f"{what}, {found.text}")

    return _with_arms(named, getattr(check, "arms", ()))


def given(check: Check, arm: Arm, metric: str, threshold: float) -> Check:
    """The check, if a seed of some runs reaches a threshold; else it can show nothing."""

    def checked(results: Results, parts: int = 1) -> Found | None:
        found, values = check(results, parts), arm.values(results, metric)
        if found is None or values is None:
            return None
        if solved(values, threshold)[0]:
            return found
        text = f"{found.text} (no seed of {arm.label} reaches {threshold:g} where it is trained)"
        return Found("empty", text)

    return _with_arms(checked, getattr(check, "arms", ()))


def exactly(kind: str, judge: Callable[[dict[str, Any]], Found | None], **where: Any) -> Check:
    """A check of the answer of an exact computation."""

    def check(results: Results, parts: int = 1) -> Found | None:
        rows = results.exact(kind, **where)
        return judge(rows[0]) if rows else None

    return check


def _check(
    metric: str, arms: Sequence[Arm], judge: Callable[[Sequence[Floats], str, int], Found]
) -> Check:
    """A check of the metric of some arms; ``judge`` is given the seeds of each and their means."""

    def check(results: Results, parts: int = 1) -> Found | None:
        found = [arm.values(results, metric) for arm in arms]
        values = [each for each in found if each is not None]
        if len(values) < len(arms):
            return None
        text = ", ".join(f"{a.name}: {summary(v)}" for a, v in zip(arms, values, strict=True))
        return judge(values, text, parts)

    return _with_arms(check, arms)


def _with_arms(check: Check, arms: Sequence[Arm]) -> Check:
    check.arms = tuple(arms)  # type: ignore[attr-defined]
    return check


def _decided(
    values: Sequence[Floats],
    weights: Sequence[float] | Floats,
    offset: float,
    text: str,
    parts: int,
    strict: bool = False,
) -> Found:
    """Whether a sum of means, weighted, and an offset is at least 0 (above it, if strict)."""

    def margin(level: float) -> Interval:
        found = contrast_interval(values, weights, level)
        return Interval(found.low + offset, found.high + offset)

    means = [float(each.mean()) for each in values]
    value = float(np.dot(weights, means) + offset)
    size = max(TINY, *(abs(mean) for mean in means))
    count = min(len(each) for each in values)
    if count < EQUAL and not any(np.ptp(each) > 0 for each in values):
        return Found("not shown", text, seeds=EQUAL)
    return _by_interval(margin, value, count, size, text, parts, strict)


def _by_interval(
    margin: Callable[[float], Interval],
    value: float,
    count: int,
    size: float,
    text: str,
    parts: int,
    strict: bool = False,
) -> Found:
    """By the interval at 95% if it holds, by that of one part among many if it is refuted."""
    found, wide = margin(LEVEL), margin(1 - (1 - LEVEL) / parts)
    effect = Effect(value / size, found.low / size, found.high / size)
    if found.low > TINY or (not strict and found.low >= -TINY):
        return Found("holds", text, effect)
    if wide.high < -TINY or (strict and wide.high <= TINY):
        return Found("refuted", text, effect)
    return Found("not shown", text, effect, _seeds_needed(value, found, count))


def _seeds_needed(value: float, found: Interval, count: int) -> int | None:
    """With how many seeds the interval would leave the bound out, if the value stays."""
    reach = value - found.low if value > 0 else found.high - value
    if abs(value) < TINY or not np.isfinite(reach):
        return None
    needed = max(count + 1, int(np.ceil(count * (reach / value) ** 2)))
    return needed if needed <= MOST_SEEDS else None
