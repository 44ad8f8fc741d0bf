"""What the arrays of a tabular checkpoint have to be, so that a compiled kernel may trust them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.schemas import MOST, Expected, like
from adastack.tabular.moves import (
    ACTION,
    AGENT,
    BATCH_STEPS,
    BLOCKS,
    CLOCK,
    LASTED,
    LEFT,
    LENGTH,
    LIMIT,
    LONGEST,
    ORIGIN_AGENT,
    ORIGIN_STATE,
    PERIOD,
    PLACES,
    SEGMENTS,
    STATE,
    STUCK,
    TRACES,
    UPDATES,
)
from adastack.tabular.settings import ValueSettings

Array = NDArray[Any]
Session = Any
"""A session, of which this module is a part."""


def expected_arrays(session: Session) -> dict[str, Expected]:
    """The arrays of a session, by name, with the least and the most of each."""
    limits = _value_limits(session) if _learns_values(session) else _policy_limits(session)
    limits |= {"place": _place_limits(session), "counts": (0, session.steps)}
    return {
        name: like(array, *limits.get(name, (None, None))) for name, array in session.arrays.items()
    }


def check_together(session: Session, arrays: Mapping[str, Array]) -> None:
    """Checks what entries must be to each other.

    Raises:
        DamagedFileError: If they do not belong together.
    """
    place = arrays["place"]
    going_on = place[:, AGENT] >= 0
    session.induced.check_pairs(place[going_on, STATE], place[going_on, AGENT])
    # Seeds advance together; a kernel that begins late would count beyond the rows there are.
    good = (place[:, BLOCKS] == place[0, BLOCKS]).all()
    if _learns_values(session):
        good = good and (going_on == (place[:, ACTION] >= 0)).all()
        good = good and all(map(_traces_agree, place, arrays["traced"], arrays["trace_at"]))
    elif session.algo == "reinforce":
        # The steps of an episode fill a segment, which has room for the longest.
        good = good and (place[:, LENGTH] == np.where(going_on, place[:, CLOCK], 0)).all()
    if not good:
        raise DamagedFileError("the checkpoint is damaged: its counters contradict each other")


def _learns_values(session: Session) -> bool:
    return isinstance(session.settings, ValueSettings)


def _place_limits(session: Session) -> tuple[Array, Array]:
    low, high = np.zeros(PLACES, np.int64), np.full(PLACES, MOST, np.int64)
    agents = session.induced.n_agent_states
    low[[AGENT, ACTION]] = -1
    high[[STATE, AGENT, BLOCKS]] = session.task.n_states - 1, agents - 1, session.blocks
    high[ACTION] = session.width - 1
    limit = session.tables.time_limit
    # A policy's clock stands still where an episode ended; a value's begins anew at once.
    last = limit - 1 if _learns_values(session) else limit
    high[CLOCK] = last if limit and not session.task.continual else session.steps
    if isinstance(session.settings, ValueSettings):
        longest = max(session.settings.persistence, session.settings.persistence_end)
        high[[LEFT, TRACES]] = int(longest), session.arrays["traced"].shape[1]
        high[PERIOD] = _most_periods(session)
        high[[LASTED, LONGEST]] = session.steps + 1
        high[LIMIT] = 1 + int(STUCK * (session.steps + 1))
    else:
        settings = session.settings
        high[[LENGTH, SEGMENTS]] = settings.horizon - 1, settings.batch - 1
        high[[BATCH_STEPS, UPDATES]] = session.steps
        high[[ORIGIN_STATE, ORIGIN_AGENT]] = session.task.n_states - 1, agents - 1
    return low, high


def _value_limits(session: Session) -> dict[str, tuple[Any, Any]]:
    pairs, width = session.arrays["traced"].shape[1], session.width
    memory = width // session.task.n_actions
    return {
        "greedy": (0, width - 1),
        "trace": (0, 1),
        "traced": (0, pairs - 1),
        "trace_at": (-1, pairs - 1),
        "explored": (-1, (_most_periods(session), session.task.n_actions - 1, memory - 1)),
        "sightings": (0, session.steps + 1),
        "ages": (-1, session.steps + 1),
    }


def _policy_limits(session: Session) -> dict[str, tuple[Any, Any]]:
    return {
        "chance": (0, 1),
        "fresh": (0, session.steps + 1),
        "agents": (0, session.induced.n_agent_states - 1),
        "actions": (0, session.width - 1),
    }


def _most_periods(session: Session) -> int:
    """A choice, or the beginning of an episode, begins one."""
    return 2 * int(session.steps) + 2


def _traces_agree(place: Array, traced: Array, trace_at: Array) -> bool:
    """Whether the pairs with a trace are numbered, each once."""
    count = place[TRACES]
    numbered = np.arange(count)
    return bool((trace_at[traced[:count]] == numbered).all() and (trace_at >= 0).sum() == count)
