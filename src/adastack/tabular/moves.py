"""What every compiled learner shares: where a run stands, a step of M_k, and counting it.

Run states are arrays and nothing else, so that a run can stop after any block, be saved, and go on
bit for bit. The functions here work on one seed's arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import inlined
from adastack.process.draws import pick
from adastack.process.tables import ACTIVE, BITS, FIELD, FIELDS, PASSIVE

BLOCK = 100
"""Steps between two rows of metrics; schedule of learning and exploring are constant in between."""
MAX_ROWS = 10_000
"""Longer runs put several blocks into one row."""

STATE, AGENT, ACTION, CLOCK, BLOCKS = range(5)
"""Entries of ``place``: hidden state, agent state (-1 before an episode), the joint action to take
(-1 if none is chosen yet), steps of the episode, blocks done."""
PERIOD, LEFT, TRACES = range(5, 8)
"""For values: the period of exploration, the choices left in it, and the number of traces."""
LENGTH, SEGMENTS, BATCH_STEPS, UPDATES, ORIGIN_STATE, ORIGIN_AGENT = range(5, 11)
"""For policies: steps of the segment, segments and steps since the last update, updates, and the
pair with which the segment began."""
PLACES = 11

REGRETS_WHILE_GOING_ON = ACTIVE | PASSIVE


class Record(NamedTuple):
    """What has been counted, by row."""

    paid: NDArray[np.float64]
    """(rows, 3): summed reward; summed returns and discounted returns of attempts that ended."""
    events: NDArray[np.int64]
    """(rows, fields): attempts, successes and regrets."""
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
        np.zeros((seeds, rows, 3)), np.zeros((seeds, rows, len(FIELDS)), np.int64), attempt
    )


@inlined
def start(tables, rng):  # type: ignore[no-untyped-def]
    """A state in which an attempt begins."""
    return np.int64(tables.start_states[pick(rng, tables.start_cdf)])


@inlined
def move(tables, state, action, rng):  # type: ignore[no-untyped-def]
    """One step of the task: reward, whether the attempt ended, its events and the next state."""
    outcome = 0
    if tables.next_state.shape[2] > 1:
        outcome = pick(rng, tables.outcome_cdf[state, action])
    ended = tables.ends[state, action, outcome]
    after = np.int64(tables.next_state[state, action, outcome])
    if ended and tables.continual:
        after = start(tables, rng)
    reward, ending = tables.reward[state, action, outcome], tables.ending[state, action, outcome]
    return reward, ended, ending, after


@inlined
def step_events(tables, state, agent, memory, ending, over):  # type: ignore[no-untyped-def]
    """The events of a step; keeping or losing a cue no longer matters once an attempt is over."""
    events = tables.regrets[agent, memory, tables.cue[state]]
    if over:
        events &= ~REGRETS_WHILE_GOING_ON
    return events + ending


@inlined
def count_attempt(attempt, row, reward, gamma, over):  # type: ignore[no-untyped-def]
    """Adds a reward to the running attempt and closes it if it is over."""
    attempt[0] += reward
    attempt[1] += attempt[2] * reward
    attempt[2] *= gamma
    if over:
        row[1] += attempt[0]
        row[2] += attempt[1]
        attempt[0], attempt[1], attempt[2] = 0.0, 0.0, 1.0


@inlined
def count_events(row, events):  # type: ignore[no-untyped-def]
    """Adds a block's packed events to a row."""
    for i in range(len(FIELDS)):
        row[i] += (events >> (BITS * i)) & FIELD


@inlined
def progress_at(block, steps, anneal):  # type: ignore[no-untyped-def]
    """How much of the annealing is over at the beginning of a block, 0 to 1."""
    return min(1.0, block * BLOCK / (anneal * steps))
