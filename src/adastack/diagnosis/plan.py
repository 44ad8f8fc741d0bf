"""Which memory is trained next: a pure function of the trials so far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from adastack.diagnosis.memories import CELL, NONE, Memory, chosen, window
from adastack.diagnosis.verdict import Standing, Trial, is_short, judge, level_of, standings

RULES = ("frame", "adaptive")
SCOUT = 4
"""Slots of the stacks that are tried before it is known what matters."""


def wanted(
    trials: Sequence[Trial],
    random: Sequence[float],
    max_k: int,
    failed: Collection[Memory] = (),
) -> list[Memory]:
    """Which memories to train next, or for longer, in order; none if all is decided.

    Scouts come first: no memory, two chosen slots, a window of four, four chosen slots, and a
    recurrent cell, the slowest. Then what lies between a stack that is enough and one that is
    short, or beyond the largest one, if a cell does better.

    Args:
        trials: The trials so far.
        random: Scores of random actions.
        max_k: The largest stack to try.
        failed: Memories that cannot be trained.
    """
    verdict, found = judge(trials, random), standings(trials, random)
    if verdict.decided and verdict.memory != CELL:
        return []
    missing = [m for m in scouts(max_k) if m not in found and m not in failed]
    if trials and level_of(trials, random).known:
        missing = [m for m in missing if _matters(m, verdict.at_most)]
    if missing:
        return missing
    asked: Callable[..., list[Memory]]
    asked = _larger if verdict.decided else partial(_undecided, trials, random)
    return [memory for memory in asked(found, max_k) if memory not in failed]


def _matters(memory: Memory, enough: Memory | None) -> bool:
    """Whether a memory could be the answer, where one that is as good as can be is known."""
    if enough is None or enough.recurrent or memory == NONE:
        return True
    return not memory.recurrent and (memory.rule != enough.rule or memory.k < enough.k)


def scouts(max_k: int) -> list[Memory]:
    """What is tried first.

    Example:
        >>> [memory.name for memory in scouts(8)]
        ['none', 'adaptive-2', 'frame-4', 'adaptive-4', 'gru']
    """
    most = min(SCOUT, max_k)
    return list(dict.fromkeys([NONE, chosen(2), window(most), chosen(most), CELL]))


def _undecided(
    trials: Sequence[Trial], random: Sequence[float], found: dict[Memory, Standing], max_k: int
) -> list[Memory]:
    """What has to be trained, or trained for longer, to decide."""
    if not trials:
        return []
    still = [memory for memory in found if found[memory] == "open"]
    level = level_of(trials, random)
    if not (level.learned and level.settled):
        return still
    if found.get(NONE) == "open":
        return [NONE]
    return _between(judge(trials, random).at_most, found, max_k) or still


def _between(memory: Memory | None, found: dict[Memory, Standing], max_k: int) -> list[Memory]:
    """What could still be smaller or simpler than a memory that is enough."""
    if memory is None:
        return []
    if memory.recurrent:
        open_stacks = [m for m in found if found[m] == "open" and not m.recurrent]
        return open_stacks or _larger(found, max_k)
    slots = [chosen(k) for k in range(2, memory.k)]
    windows = [window(k) for k in range(2, memory.k + (memory.rule == "adaptive"))]
    # One that is short makes all smaller ones short: the largest is asked first.
    rivals = ([m for m in rule if not is_short(m, found)] for rule in (slots, windows))
    return [left[-1] for left in rivals if left]


def _larger(found: dict[Memory, Standing], max_k: int) -> list[Memory]:
    """Both rules with twice the slots, as long as that is allowed."""
    most = {rule: max((m.k for m in found if m.rule == rule), default=1) for rule in RULES}
    return [Memory(rule, 2 * most[rule]) for rule in RULES if 2 * most[rule] <= max_k]
