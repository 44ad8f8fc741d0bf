"""One attempt of a fixed policy, compiled."""

from __future__ import annotations

import numpy as np

from adastack.process.compiled import compiled, inlined
from adastack.process.draws import draw_outcome, pick
from adastack.process.events import ATTEMPT, EVENTS, WHILE_GOING_ON

OVER, MISSING, LOOP, LIMIT = range(4)
"""How a walk stops: the attempt is over, a push is not known yet, the walk has come back to where
it was (and would for ever), or it has taken as many steps as it may."""

STATE, AGENT, MEMORY_ACTION, SYMBOL, MARK_STATE, MARK_AGENT, MARK_STEPS = range(7)
"""Entries of ``place``: where the walk stands; the push that is missing; and the pair, met after
``MARK_STEPS`` steps, that a loop would come back to (-1 if loops are not looked for)."""
PLACES = 7

STEPS, REWARD, DISCOUNTED, COUNTS = range(4)
"""Entries of ``sums``; from the last on, a count of each of the `EVENTS`."""
SUMS = COUNTS + len(EVENTS)

KEPT, KEPT_STEPS, HELD, HELD_STEPS = range(4)
"""Entries of ``sums`` behind these, for each observation: how often it was evicted, or dropped
with the rest at the end of an episode, and how old it was then; how often it was in memory when an
attempt was over, and how old it was then."""
REMEMBERED = 4


@compiled
def walk(tables, stacks, random_memory, gamma, word, place, ages, sums, limit):  # type: ignore[no-untyped-def]
    """Plays on until the attempt is over or one of the other stops; ``sums`` adds up.

    ``ages`` are those of the slots: how many steps ago each was filled.
    """
    state, agent, discount = place[STATE], place[AGENT], gamma ** sums[STEPS]
    while sums[STEPS] < limit:
        if state == place[MARK_STATE] and agent == place[MARK_AGENT] and _moved(place, sums):
            place[STATE], place[AGENT] = state, agent
            return LOOP
        if place[MARK_STEPS] >= 0 and sums[STEPS] >= 2 * place[MARK_STEPS] + 1:
            place[MARK_STATE], place[MARK_AGENT] = state, agent
            place[MARK_STEPS] = np.int64(sums[STEPS])
        before = word[0]
        action = pick(word, stacks.cdf[agent])
        act, memory, outcome = draw_outcome(tables, stacks.push, random_memory, state, action, word)
        ended = tables.ends[state, act, outcome]
        after = np.int64(tables.next_state[state, act, outcome])
        over = ended or sums[STEPS] + 1 == tables.time_limit
        following = np.int64(-1)
        if not over:
            symbol = tables.observation[after]
            following = np.int64(stacks.push[agent, memory, symbol])
            if following < 0:
                word[0] = before
                place[STATE], place[AGENT] = state, agent
                place[MEMORY_ACTION], place[SYMBOL] = memory, symbol
                return MISSING
        stacks.seen[agent] = True
        reward = tables.reward[state, act, outcome]
        regrets = stacks.regrets[agent, memory, tables.cue[state]]
        _count(sums, reward, discount, regrets, tables.ending[state, act, outcome], over)
        discount *= gamma
        _age(tables, stacks, agent, memory, over, ages, sums)
        if over:
            place[AGENT], place[MEMORY_ACTION] = agent, memory
            return OVER
        state, agent = after, following
    place[STATE], place[AGENT] = state, agent
    return LIMIT


@inlined
def _moved(place, sums):  # type: ignore[no-untyped-def]
    return place[MARK_STEPS] >= 0 and sums[STEPS] > place[MARK_STEPS]


@inlined
def _count(sums, reward, discount, regrets, ending, over):  # type: ignore[no-untyped-def]
    sums[STEPS] += 1
    sums[REWARD] += reward
    sums[DISCOUNTED] += discount * reward
    flags = np.int64(ending | regrets)
    if over:
        flags = (flags | ATTEMPT) & ~WHILE_GOING_ON
    for bit in range(len(EVENTS)):
        sums[COUNTS + bit] += (flags >> bit) & 1


@inlined
def _age(tables, stacks, agent, memory, over, ages, sums):  # type: ignore[no-untyped-def]
    """Counts what a step evicts and what an attempt ends with; lets the rest grow older."""
    newest = len(ages) - 1
    empty = stacks.push.shape[2]
    if over:
        for slot in range(newest):
            _note(stacks.stacks[agent, slot], ages[slot], HELD, empty, sums)
    if over and not tables.continual:
        for slot in range(newest + 1):
            _note(stacks.stacks[agent, slot], ages[slot], KEPT, empty, sums)
        return
    evicted = stacks.evicted[agent, memory]
    if evicted <= newest:
        _note(stacks.stacks[agent, evicted], ages[evicted], KEPT, empty, sums)
    for slot in range(newest):
        ages[slot] = ages[slot + 1 if slot >= evicted else slot] + 1
    ages[newest] = 0 if evicted <= newest else ages[newest] + 1


@inlined
def _note(symbol, age, what, empty, sums):  # type: ignore[no-untyped-def]
    if symbol != empty:
        at = SUMS + REMEMBERED * symbol + what
        sums[at] += 1
        sums[at + 1] += age
