"""What scores say about the memory that a task needs: pure functions of trials.

A memory is *enough* if it reaches what can be reached, *short* if it stays clearly below although
it was trained for longer than it took to get there, and *open* otherwise. What can be reached is
the best score that is known to be good (success, the optimum, a threshold of the environment), or
else the best mean, once more training no longer raises it. Differences are measured in units of
what learning gained: the best score less that of random actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adastack.diagnosis.memories import NONE, Memory
from adastack.lab.statistics import Interval, difference_interval, mean_interval

MARGIN = 0.1
"""The share of what learning gained that does not count as a difference."""
LONGER = 2
"""How many times the steps that the best memory took another must have had to be called short."""

Standing = Literal["enough", "short", "open"]


@dataclass(frozen=True)
class Trial:
    """A memory that was trained: what each seed came to."""

    memory: Memory
    steps: int
    """Environment steps of each seed."""
    scores: tuple[float, ...]
    """The score of each seed after training."""
    good: tuple[bool, ...] = ()
    """Whether each seed's score is known to be as good as can be; empty if that is not known."""
    run: str = ""
    """The folder of the run."""

    @property
    def mean(self) -> float:
        """The mean score of the seeds."""
        return float(np.mean(self.scores))

    @property
    def interval(self) -> Interval:
        """The 95% interval of the mean."""
        return mean_interval(self.scores)

    @property
    def best(self) -> float:
        """The best seed that is known to be good, else the mean."""
        found = [score for score, good in zip(self.scores, self.good, strict=False) if good]
        return max(found) if found else self.mean

    @property
    def known(self) -> bool:
        """Whether a seed is known to be as good as can be."""
        return any(self.good)


@dataclass(frozen=True)
class Level:
    """What can be reached, as far as it was."""

    trial: Trial
    """Who reached it first."""
    score: float
    known: bool
    """Whether nothing better exists."""
    settled: bool
    """Whether half the training gave as much."""
    flat: bool
    """Whether a quarter of it did."""
    margin: float
    """Differences up to this do not count."""
    learned: bool
    """Whether it is above what random actions get."""


@dataclass(frozen=True)
class Verdict:
    """What a task needs, as far as it is decided."""

    needs_memory: bool | None = None
    """None if that is not decided."""
    memory: Memory | None = None
    """The smallest memory that is enough, if it is decided."""
    at_most: Memory | None = None
    """One that is enough, where a smaller or simpler one may be, too."""
    proved: bool = False
    """By the exact theory rather than by training."""

    @property
    def decided(self) -> bool:
        """Whether nothing is left to find out."""
        return self.memory is not None


def latest(trials: Iterable[Trial]) -> dict[Memory, Trial]:
    """The longest trial of each memory."""
    found: dict[Memory, Trial] = {}
    for trial in trials:
        if trial.memory not in found or trial.steps > found[trial.memory].steps:
            found[trial.memory] = trial
    return found


def level_of(trials: Sequence[Trial], random: Sequence[float]) -> Level:
    """What can be reached.

    Args:
        trials: All trials.
        random: Scores of random actions.
    """
    known = [trial for trial in trials if trial.known]
    if known:
        top = max(trial.best for trial in known)
        # Where random actions do as well, nothing had to be learned.
        margin = MARGIN * max(top - float(np.mean(random)), 0.0)
        first = min(known, key=lambda trial: trial.steps)
        return Level(first, top, True, True, True, margin, True)
    best = max(latest(trials).values(), key=lambda trial: trial.mean)
    margin = MARGIN * max(best.mean - float(np.mean(random)), 0.0)
    learned = difference_interval(best.scores, random).low > 0
    as_good = [trial for trial in trials if trial.mean >= best.mean - margin]
    first = min(as_good, key=lambda trial: trial.steps)
    least = min(trial.steps for trial in as_good if trial.memory == best.memory)
    settled, flat = 2 * least <= best.steps, 4 * least <= best.steps
    return Level(first, best.mean, False, settled, flat, margin, learned)


def standing(memory: Memory, trials: Sequence[Trial], level: Level) -> Standing:
    """Whether a memory is enough, by what it was trained for."""
    own = [trial for trial in trials if trial.memory == memory]
    if not own or not level.learned:
        return "open"
    if level.known:
        return _against_known(own, level)
    last = max(own, key=lambda trial: trial.steps)
    best = max(latest(trials).values(), key=lambda trial: trial.mean)
    gap = difference_interval(best.scores, last.scores)
    if last is best or gap.high <= level.margin:
        # That nothing beats no memory may also mean that nobody has learned to use one: it takes
        # longer to believe, and is not believed where the score is known to be improvable.
        sure = level.flat and not best.good if memory == NONE else level.settled
        return "enough" if sure else "open"
    return "short" if gap.low > level.margin and _had_time(last, level) else "open"


def _against_known(own: Sequence[Trial], level: Level) -> Standing:
    # One good seed shows that the memory is enough; that the others did not learn it does not
    # speak against it.
    if any(trial.known and trial.best >= level.score - level.margin for trial in own):
        return "enough"
    last = max(own, key=lambda trial: trial.steps)
    below = max(last.interval.high, *last.scores) < level.score - level.margin
    return "short" if below and _had_time(last, level) else "open"


def _had_time(trial: Trial, level: Level) -> bool:
    return trial.steps >= LONGER * level.trial.steps


def standings(trials: Sequence[Trial], random: Sequence[float]) -> dict[Memory, Standing]:
    """The standing of every memory that was tried; a stack is short if a larger one is."""
    if not trials:
        return {}
    level = level_of(trials, random)
    found = {memory: standing(memory, trials, level) for memory in latest(trials)}
    for memory in found:
        larger = [found[m] for m in found if contains(m, memory)]
        if found[memory] == "open" and "short" in larger and "enough" not in larger:
            found[memory] = "short"
    return found


def contains(larger: Memory, smaller: Memory) -> bool:
    """Whether whatever the smaller one does, the larger one can do in the same way."""
    if larger.recurrent or smaller.recurrent:
        return False
    return larger.rule == smaller.rule and larger.k > smaller.k


def judge(trials: Sequence[Trial], random: Sequence[float]) -> Verdict:
    """What the trials say.

    Args:
        trials: The trials so far, some memories at several lengths of training.
        random: Scores of random actions, at least two.
    """
    found = standings(trials, random)
    without = found.get(NONE, "open")
    if without == "enough":
        return Verdict(needs_memory=False, memory=NONE)
    enough = sorted((m for m in found if found[m] == "enough"), key=_cost)
    at_most = enough[0] if enough else None
    if without == "open":
        return Verdict(at_most=at_most)
    if at_most is None:
        return Verdict(needs_memory=True)
    decided = _smallest(at_most, found)
    return Verdict(needs_memory=True, memory=at_most if decided else None, at_most=at_most)


def _cost(memory: Memory) -> tuple[bool, int, bool]:
    """Smaller stacks first, windows before chosen slots, cells last."""
    return memory.recurrent, memory.k, memory.rule == "adaptive"


def _smallest(memory: Memory, found: dict[Memory, Standing]) -> bool:
    """Whether everything smaller or simpler is known to be short."""
    if memory.recurrent:
        stacks = [m for m in found if not m.recurrent and m != NONE]
        rules = {m.rule for m in stacks if found[m] == "short"}
        return rules == {"frame", "adaptive"} and all(found[m] == "short" for m in stacks)
    below_chosen = is_short(Memory("adaptive", memory.k - 1), found)
    if memory.rule == "frame":
        return below_chosen and is_short(Memory("frame", memory.k - 1), found)
    return below_chosen and is_short(Memory("frame", memory.k), found)


def is_short(memory: Memory, found: dict[Memory, Standing]) -> bool:
    """Whether a memory is known to be short, by itself or because a larger one is."""
    if memory.k == 1:
        return True  # One slot is no memory, which has been judged before.
    if memory in found:
        return found[memory] == "short"
    return any(found[m] == "short" and contains(m, memory) for m in found)
