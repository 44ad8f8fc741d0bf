"""Claims put to the test: what they are about, and verdicts made of checks (see `checks`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from adastack.lab.results import Results
from adastack.lab.statistics import Floats

PAPER_STEPS = 1_000_000
FEWEST = 3
"""Seeds that are needed to judge runs; with fewer an interval says next to nothing."""
NOTHING = "no runs that count yet"
"""There may be some that are too short, or too few."""

Status = Literal["holds", "refuted", "not shown", "needs runs"]
STATUSES: tuple[Status, ...] = ("holds", "refuted", "not shown", "needs runs")
"""In the order in which they are told: the interval is on the right side of the bound, on the
wrong side, on both; there are not enough runs."""


class Effect(NamedTuple):
    """How far a measurement is on the right side of its bound, as a share of its size."""

    value: float
    low: float
    high: float


class Found(NamedTuple):
    """What a check found."""

    status: Literal["holds", "refuted", "not shown", "empty"]
    """Empty: these runs could not have shown it, whatever the truth."""
    text: str
    effect: Effect | None = None
    """None for an exact answer."""
    seeds: int | None = None
    """With about how many seeds of each kind it would be decided, if it is not shown."""


Check = Callable[[Results, int], Found | None]
"""(results, how many parts the claim has) -> what was found; None if there are not enough runs.

The more parts, the wider the interval that refutes one of them, so that many parts are not more
easily refuted than one."""


class Verdict(NamedTuple):
    """Whether our results support a claim."""

    status: Status
    measured: str
    """What we found, with its interval and its seeds."""
    needed: str
    """What the claim asks for."""
    held: int = 0
    """How many of its parts hold."""
    parts: int = 0
    """How many parts could have decided it."""
    left_out: tuple[str, ...] = ()
    """The parts that could not."""
    effect: Effect | None = None
    """Of the part that is closest to the wrong side."""
    seeds: int | None = None
    """With about how many seeds it would be decided, if it is not shown."""


@dataclass(frozen=True)
class Test:
    """A claim's parts, and what they ask for."""

    __test__ = False  # Not one of pytest's.

    checks: tuple[Check, ...]
    needed: str

    def __call__(self, results: Results) -> Verdict:
        """The verdict."""
        found = [check(results, len(self.checks)) for check in self.checks]
        known = [each for each in found if each is not None]
        told = sorted((each for each in known if each.status != "empty"), key=badness)
        left_out = tuple(each.text for each in known if each.status == "empty")
        texts = [each.text for each in told]
        texts += [f"left out, as it could show nothing: {text}" for text in left_out]
        effects = [each.effect for each in told if each.effect is not None]
        seeds = [each.seeds for each in told if each.status == "not shown"]
        return Verdict(
            self._status(found),
            "; ".join(texts) or NOTHING,
            self.needed,
            sum(each.status == "holds" for each in told),
            len(told),
            left_out,
            min(effects, key=lambda effect: effect.value, default=None),
            None if None in seeds else max((n for n in seeds if n is not None), default=None),
        )

    def _status(self, found: Sequence[Found | None]) -> Status:
        """One part that is refuted refutes the whole; the whole holds if all that can show do."""
        said = {None if each is None else each.status for each in found} - {"empty"}
        if "refuted" in said:
            return "refuted"
        if None in said:
            return "needs runs"
        return "holds" if said == {"holds"} else "not shown"

    @property
    def arms(self) -> list[Arm]:
        """The runs that it looks at."""
        return [arm for check in self.checks for arm in getattr(check, "arms", ())]


def badness(found: Found) -> int:
    """The place of what was found among all, the worst first."""
    return ("refuted", "not shown", "holds", "empty").index(found.status)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and how to test it."""

    id: str
    sentence: str
    """The claim, in our words."""
    where: str
    """Where the paper says so."""
    test: Callable[[Results], Verdict] = field(repr=False)
    """A `Test`, or any function."""
    ours: bool = False
    """Whether the claim is ours rather than the paper's."""
    reading: str = ""
    """Which reading is tested, where the paper's text and the authors' code differ."""
    why: str = ""
    """Why it is refuted, if it is, with the counterexample."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Whose claim it is, with whose settings, which reading, exact or sampled, which seeds."""
        whose = "our claim" if self.ours else "the paper's claim"
        reading = (self.reading,) if self.reading else ()
        if not isinstance(self.test, Test):
            return (whose, *reading)
        arms = self.test.arms
        if not arms:
            return (whose, "exact", *reading)
        published = {arm.where.get("preset") == "paper" for arm in arms}
        words = {True: "published settings", False: "our settings"}
        settings = " and ".join(words[each] for each in sorted(published, reverse=True))
        seeds = sorted({arm.seeds for arm in arms if arm.seeds})
        chosen = "" if published == {True} else ", on which no setting was chosen"
        return (whose, settings, *reading, "sampled", *(f"seeds {s}{chosen}" for s in seeds))


@dataclass(frozen=True)
class Arm:
    """Runs of one kind."""

    label: str
    where: Mapping[str, Any]
    """What their rows have (see `Results.rows`)."""
    least: int = FEWEST
    """How many seeds are needed to judge them."""
    tested: str | None = None
    """The task they are tested on, if it is not the one they were trained on."""
    seeds: str = ""
    """The seeds, as in "0 to 9"."""

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


def all_of(checks: Iterable[Check], needed: str) -> Test:
    """A test that holds if every check does; what speaks against it is listed first."""
    return Test(tuple(checks), needed)


def evaluate(claims: Iterable[Claim], results: Results) -> list[tuple[Claim, Verdict]]:
    """Each claim with its verdict."""
    return [(claim, claim.test(results)) for claim in claims]
