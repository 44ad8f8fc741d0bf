"""Random numbers as a function of a 64-bit word that a run can save: SplitMix64.

Every seed owns one word, kept in an array of length one, so that what a seed draws depends on
nothing but its own past.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import inlined

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
TO_UNIT = 1.0 / 9007199254740992.0


def first_words(seeds: Sequence[int]) -> NDArray[np.uint64]:
    """(seeds, 1): the word that each seed begins with."""
    words = [np.random.SeedSequence(seed).generate_state(1, np.uint64) for seed in seeds]
    return np.stack(words)


@inlined
def word(rng):  # type: ignore[no-untyped-def]
    """The next 64 random bits."""
    rng[0] += GAMMA
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@inlined
def uniform(rng):  # type: ignore[no-untyped-def]
    """A number in [0, 1) with 53 random bits."""
    return np.float64(word(rng) >> np.uint64(11)) * TO_UNIT


@inlined
def below(rng, n):  # type: ignore[no-untyped-def]
    """An integer in 0..n-1."""
    return np.int64(((word(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inlined
def pick(rng, cdf):  # type: ignore[no-untyped-def]
    """An index drawn from a cumulative distribution whose last entry is one."""
    u = uniform(rng)
    low, high = 0, len(cdf) - 1
    while low < high:
        middle = (low + high) >> 1
        if u < cdf[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def draw_outcome(tables, push, random_memory, state, action, rng):  # type: ignore[no-untyped-def]
    """The action and memory action of a joint action, and which outcome the task draws."""
    act, memory = tables.act_of[action], tables.memory_of[action]
    if random_memory:
        memory = below(rng, push.shape[1])
    outcome = 0
    if tables.next_state.shape[2] > 1:
        outcome = pick(rng, tables.outcome_cdf[state, act])
    return act, memory, outcome
