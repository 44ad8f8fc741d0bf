"""What every compiled learner shares: where a run stands, a step of M_k, and counting it.

Run states are arrays and nothing else, so that a run can stop after any block, be saved, and go on
bit for bit. The functions here work on one seed's arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import inlined
from adastack.process.draws import draw_outcome, pick
from adastack.process.events import ATTEMPT, EVENTS, PAID, WHILE_GOING_ON, WINDOW

BLOCK = WINDOW
"""Steps between two rows of metrics; step sizes and exploration are constant in between."""
MAX_ROWS = 10_000
"""Longer runs put several blocks into one row."""

STATE, AGENT, ACTION, CLOCK, BLOCKS = range(5)
"""Entries of ``place``: hidden state, agent state (-1 before an episode), the joint action to take
(-1 if none is chosen yet), steps of the episode, blocks done."""
PERIOD, LEFT, TRACES, LASTED, LONGEST, LIMIT = range(5, 11)
"""For values: the period of exploration, the choices left in it, and the number of traces; steps
since which agent state and choice are the same, the longest that such a wait has led anywhere, and
after how many it is given up."""
LENGTH, SEGMENTS, BATCH_STEPS, UPDATES, ORIGIN_STATE, ORIGIN_AGENT = range(5, 11)
"""For policies: steps of the segment, segments and steps since the last update, updates, and the
pair with which the segment began."""
PLACES = 11
STUCK = 4.0
"""A choice that changes nothing is given up after up to so many times the longest wait so far that
led anywhere."""


class Record(NamedTuple):
    """What has been counted, by row."""

    paid: NDArray[np.float64]
    """(rows, 3): summed reward; summed returns and discounted returns of attempts that ended."""
    counts: NDArray[np.int64]
    """(rows, events): attempts, successes and regrets."""
    attempt: NDArray[np.float64]
    """(3,): the running attempt's return and discounted return, and its discount."""


def blocks_in(steps: int) -> int:
    """The number of blocks of a run."""
    return -(-steps // BLOCK)


def blocks_per_row(steps: int) -> int:
    """How many blocks share a row of metrics, so that rows do not grow without bound."""
    return -(-blocks_in(steps) // MAX_ROWS)


def new_record(seeds: int, steps: int) -> Record:
    """Rows of zeros for every seed."""
    rows = -(-blocks_in(steps) // blocks_per_row(steps))
    attempt = np.zeros((seeds, 3))
    attempt[:, 2] = 1.0
    return Record(
        np.zeros((seeds, rows, PAID)), np.zeros((seeds, rows, len(EVENTS)), np.int64), attempt
    )


@inlined
def start(tables, rng):  # type: ignore[no-untyped-def]
    """A state in which an attempt begins."""
    return np.int64(tables.start_states[pick(rng, tables.start_cdf)])


@inlined
def take_step(tables, random_memory, state, agent, action, clock, rng):  # type: ignore[no-untyped-def]
    """One step of M_k by a joint action, the ``clock``-th of its episode.

    Returns the memory action, the reward, whether the attempt is over (also by the time limit),
    the events, the next hidden state and the next agent state (-1 if the episode terminated).
    """
    act, memory, outcome = draw_outcome(tables, tables.push, random_memory, state, action, rng)
    ended = tables.ends[state, act, outcome]
    after = np.int64(tables.next_state[state, act, outcome])
    if ended and tables.continual:
        after = start(tables, rng)
    flags = np.int64(tables.regrets[agent, memory, tables.cue[state]])
    over = ended or clock == tables.time_limit
    if over:
        flags = (flags & ~WHILE_GOING_ON) | tables.ending[state, act, outcome] | ATTEMPT
    following = np.int64(-1)
    if not ended or tables.continual:
        following = np.int64(tables.push[agent, memory, tables.observation[after]])
    return memory, tables.reward[state, act, outcome], over, flags, after, following


@inlined
def next_block(how, place):  # type: ignore[no-untyped-def]
    """The next block's row of metrics, its steps, and how much of the annealing is over, 0 to 1."""
    block = place[BLOCKS]
    place[BLOCKS] = block + 1
    done = min(1.0, block * BLOCK / (how.anneal * how.steps))
    return block // how.blocks_per_row, min(BLOCK, how.steps - block * BLOCK), done
