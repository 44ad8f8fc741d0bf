"""One attempt of a fixed policy, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import compiled, inlined
from adastack.process.draws import draw_outcome, pick
from adastack.process.events import ATTEMPT, EVENTS, WHILE_GOING_ON

OVER, MISSING, LOOP, LIMIT = range(4)
"""How a walk stops: the attempt is over, a push is not known yet, the walk has come back to where
it was (and would for ever), or it has taken as many steps as it may."""

STATE, CELL, AGENT, MEMORY_ACTION, SYMBOL = range(5)
"""Entries of ``place``: where the walk stands, and the push that is missing."""
MARK_STATE, MARK_CELL, MARK_AGENT, MARK_STEPS = range(5, 9)
"""The place, met after ``MARK_STEPS`` steps, that a loop would come back to (-1 if loops are not
looked for)."""
PLACES = 9
ALWAYS = np.int64(2**62)
"""How often a move can be made that leads nowhere."""

STEPS, REWARD, DISCOUNTED, COUNTS = range(4)
"""Entries of ``sums``; from the last on, a count of each of the `EVENTS`."""
SUMS = COUNTS + len(EVENTS)

KEPT, KEPT_STEPS, HELD, HELD_STEPS = range(4)
"""Entries of ``sums`` behind these, for each observation: how often it was evicted, or dropped
with the rest at the end of an episode, and how old it was then; how often it was in memory when an
attempt was over, and how old it was then."""
REMEMBERED = 4


class Stretch(NamedTuple):
    """The rows of cells of a `StretchedTask`; both arrays are empty if there are none."""

    cells: NDArray[np.int64]
    """(states,): how many cells each state stands for."""
    back: NDArray[np.int32]
    """(states,): the state before the first cell of a row."""


@compiled
def walk(tables, stretch, stacks, random_memory, gamma, word, place, ages, sums, limit):  # type: ignore[no-untyped-def]
    """Plays on until the attempt is over or one of the other stops; ``sums`` adds up.

    In a row of cells, a choice that leaves the stack as it is would be made in all of them: the
    agent is taken to the end of the row at once. ``ages`` are those of the slots: how many steps
    ago each was filled.
    """
    state, cell, agent = place[STATE], place[CELL], place[AGENT]
    discount = gamma ** sums[STEPS]
    while sums[STEPS] < limit:
        if _at_mark(place, state, cell, agent, sums):
            place[STATE], place[CELL], place[AGENT] = state, cell, agent
            return LOOP
        if place[MARK_STEPS] >= 0 and sums[STEPS] >= 2 * place[MARK_STEPS] + 1:
            place[MARK_STATE], place[MARK_CELL], place[MARK_AGENT] = state, cell, agent
            place[MARK_STEPS] = np.int64(sums[STEPS])
        before = word[0]
        action = pick(word, stacks.cdf[agent])
        act, memory, outcome = draw_outcome(tables, stacks.push, random_memory, state, action, word)
        ended = tables.ends[state, act, outcome]
        after = np.int64(tables.next_state[state, act, outcome])
        next_cell, left = np.int64(0), np.int64(0)
        if len(stretch.cells):
            after, next_cell, left = _moved(stretch, state, cell, after)
        over = ended or sums[STEPS] + 1 == tables.time_limit
        following = np.int64(-1)
        if not over:
            symbol = tables.observation[after]
            following = np.int64(stacks.push[agent, memory, symbol])
            if following < 0:
                word[0] = before
                place[STATE], place[CELL], place[AGENT] = state, cell, agent
                place[MEMORY_ACTION], place[SYMBOL] = memory, symbol
                return MISSING
        times = np.int64(1)
        certain = tables.next_state.shape[2] == 1 and not random_memory
        if left > 0 and following == agent and certain and _certain(stacks.cdf[agent], action):
            times = _how_often(tables, place, sums, limit, left)
            next_cell += (times - 1) * (next_cell - cell)
        stacks.seen[agent] = True
        reward = tables.reward[state, act, outcome]
        regrets = stacks.regrets[agent, memory, tables.cue[state]]
        ending = tables.ending[state, act, outcome]
        discount = _count(sums, reward, discount, gamma, regrets, ending, over, times)
        _age(tables, stacks, agent, memory, over, ages, sums, times)
        if over:
            place[AGENT], place[MEMORY_ACTION] = agent, memory
            return OVER
        state, cell, agent = after, next_cell, following
    place[STATE], place[CELL], place[AGENT] = state, cell, agent
    return LIMIT


@inlined
def _at_mark(place, state, cell, agent, sums):  # type: ignore[no-untyped-def]
    if place[MARK_STEPS] < 0 or sums[STEPS] <= place[MARK_STEPS]:
        return False
    here = state == place[MARK_STATE] and cell == place[MARK_CELL]
    return here and agent == place[MARK_AGENT]


@inlined
def _moved(stretch, state, cell, target):  # type: ignore[no-untyped-def]
    """State and cell after a move, and how often it can be made before the row ends.

    See `adastack.tasks.stretched.StretchedTask`.
    """
    cells = stretch.cells[state]
    if target == state:
        return state, cell, ALWAYS if cells > 1 else np.int64(0)
    if target == stretch.back[state]:
        if cell > 0:
            return state, cell - 1, cell
    elif cell < cells - 1:
        return state, cell + 1, cells - 1 - cell
    entry = np.int64(0) if stretch.back[target] == state else stretch.cells[target] - 1
    return target, entry, np.int64(0)


@inlined
def _certain(cdf, action):  # type: ignore[no-untyped-def]
    """Whether no other action is possible."""
    return cdf[action] == 1.0 and (action == 0 or cdf[action - 1] == 0.0)


@inlined
def _how_often(tables, place, sums, limit, left):  # type: ignore[no-untyped-def]
    """How many steps can be taken at once: the last one before a limit is taken by itself."""
    if left == ALWAYS and place[MARK_STEPS] >= 0:
        return np.int64(1)
    most = limit - sums[STEPS]
    if tables.time_limit > 0:
        most = min(most, tables.time_limit - 1 - sums[STEPS])
    return np.int64(max(1.0, min(np.float64(left), most)))


@inlined
def _count(sums, reward, discount, gamma, regrets, ending, over, times):  # type: ignore[no-untyped-def]
    """Counts a step, or many alike; returns the discount after them."""
    sums[STEPS] += times
    sums[REWARD] += times * reward
    flags = np.int64(ending | regrets)
    if over:
        flags = (flags | ATTEMPT) & ~WHILE_GOING_ON
    for bit in range(len(EVENTS)):
        sums[COUNTS + bit] += times * ((flags >> bit) & 1)
    if times == 1:
        sums[DISCOUNTED] += discount * reward
        return discount * gamma
    last = gamma**times
    if reward != 0:
        rounds = (1.0 - last) / (1.0 - gamma) if gamma < 1 else np.float64(times)
        sums[DISCOUNTED] += discount * reward * rounds
    return discount * last


@inlined
def _age(tables, stacks, agent, memory, over, ages, sums, times):  # type: ignore[no-untyped-def]
    """Counts what a step evicts and what an attempt ends with; lets the rest grow older.

    Of many steps that leave the stack as it is, the first ones bring the ages of what lies behind
    the evicted slot to where they stay; the others make the rest older.
    """
    newest = len(ages) - 1
    empty = stacks.push.shape[2]
    if over:
        for slot in range(newest):
            _note(stacks.stacks[agent, slot], ages[slot], HELD, empty, sums, 1)
    if over and not tables.continual:
        for slot in range(newest + 1):
            _note(stacks.stacks[agent, slot], ages[slot], KEPT, empty, sums, 1)
        return
    evicted = stacks.evicted[agent, memory]
    singly = min(times, len(ages) + 1)
    for _ in range(singly):
        if evicted <= newest:
            _note(stacks.stacks[agent, evicted], ages[evicted], KEPT, empty, sums, 1)
        for slot in range(newest):
            ages[slot] = ages[slot + 1 if slot >= evicted else slot] + 1
        ages[newest] = 0 if evicted <= newest else ages[newest] + 1
    rest = times - singly
    if evicted <= newest:
        _note(stacks.stacks[agent, evicted], ages[evicted], KEPT, empty, sums, rest)
    for slot in range(newest + 1):
        if slot < evicted:
            ages[slot] += rest


@inlined
def _note(symbol, age, what, empty, sums, times):  # type: ignore[no-untyped-def]
    if symbol != empty:
        at = SUMS + REMEMBERED * symbol + what
        sums[at] += times
        sums[at + 1] += times * age
