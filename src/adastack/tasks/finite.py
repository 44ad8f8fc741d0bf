"""FiniteTask: a task with hidden state, written down once as arrays.

Everything that runs on a finite task reads these arrays: the Gymnasium environment, its vector
form, the induced process M_k, the exact theory and the compiled learners.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Picture:
    """Where to draw what; symbols are observations, -1 is a wall.

    The agent's cell is always drawn in the colour of its observation.
    """

    background: Ints
    """(rows, columns): the symbol of each cell."""
    agent: Ints
    """(states, 2): row and column of the agent."""
    cue_cells: Ints
    """(states, cues, 2): the cell that shows each entry of the task's ``cue``; -1 hides it."""


@dataclass(frozen=True, eq=False)
class FiniteTask:
    """A finite task with hidden state, validated on construction.

    An *outcome* is one possible result of an action in a state. An outcome that ``ends`` closes the
    attempt: an episodic task terminates there; a continual one puts the agent straight back to a
    start state, with no signal and without touching its memory.

    Observations are functions of the state. Noisy observations are expressed by splitting a state
    into one state per observation.
    """

    name: str
    """The name on the command line, with its options: ``passive-tmaze:length=16``."""
    observation: Ints
    """(states,): the observation of each state."""
    next_state: Ints
    """(states, actions, outcomes): where each outcome leads."""
    probability: Floats
    """(states, actions, outcomes): how likely each outcome is; sums to one over outcomes."""
    reward: Floats
    """(states, actions, outcomes): what each outcome pays."""
    ends: Bools
    """(states, actions, outcomes): whether the attempt is over."""
    start: Floats
    """(states,): the distribution of the first state."""
    observation_names: tuple[str, ...]
    """What each observation is called; its length is the number of observations."""
    action_names: tuple[str, ...]
    """What each action is called."""
    cue: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    """(states, cues): the observations that must be remembered now; -1 for none."""
    continual: bool = False
    """Whether the agent is put back to a start state instead of the episode terminating."""
    time_limit: int | None = None
    """Steps after which an episode is truncated."""
    discount: float | None = None
    """The discount, where the task's definition names one."""
    picture: Picture | None = None
    """How to draw the task."""

    def __post_init__(self) -> None:
        dtypes = {
            "observation": np.int32,
            "next_state": np.int32,
            "probability": np.float64,
            "reward": np.float64,
            "ends": np.bool_,
            "start": np.float64,
            "cue": np.int32,
        }
        for name, dtype in dtypes.items():
            object.__setattr__(self, name, _frozen_copy(self, name, dtype))
        if self.cue.size == 0:
            object.__setattr__(self, "cue", np.zeros((self.n_states, 0), np.int32))
        _validate(self)

    @property
    def n_states(self) -> int:
        """The number of hidden states, terminal ones included."""
        return len(self.observation)

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.action_names)

    @property
    def n_outcomes(self) -> int:
        """The largest number of outcomes of an action."""
        return int(self.next_state.shape[2])

    @property
    def n_observations(self) -> int:
        """The number of observations."""
        return len(self.observation_names)

    @property
    def empty(self) -> int:
        """The symbol of an empty slot: one more than the last observation."""
        return self.n_observations

    @cached_property
    def start_states(self) -> Ints:
        """The states in which an attempt can begin."""
        return np.flatnonzero(self.start).astype(np.int32)

    @cached_property
    def start_cdf(self) -> Floats:
        """The cumulative probabilities of `start_states`; the last is exactly one."""
        return _cumulative(self.start[self.start_states])

    @cached_property
    def outcome_cdf(self) -> Floats:
        """(states, actions, outcomes): cumulative probabilities; the last is exactly one."""
        return _cumulative(self.probability)

    @cached_property
    def success(self) -> Bools:
        """(states, actions, outcomes): whether the attempt ends with a positive reward."""
        return self.ends & (self.reward > 0)


def _cumulative(probability: Floats) -> Floats:
    """Cumulative sums whose end is one to the bit, so that no draw falls outside."""
    total = np.cumsum(probability, axis=-1)
    return np.where(total > 1 - 1e-9, 1.0, total)


def _frozen_copy(task: FiniteTask, name: str, dtype: DTypeLike) -> NDArray[Any]:
    """A read-only array of the field's type; the caller's own array stays as it is."""
    given = np.asarray(getattr(task, name))
    with np.errstate(invalid="ignore"):
        array = np.array(given, dtype, order="C", ndmin=1)
    if dtype is not np.float64 and not np.array_equal(array, given):
        kind = "booleans" if dtype is np.bool_ else "integers"
        raise ValueError(f"task {task.name!r}: {name} must hold {kind}, actual {given.dtype}")
    array.flags.writeable = False
    return array


def _validate(task: FiniteTask) -> None:
    """Raises a ValueError that names the first thing that is wrong."""
    states, actions = task.n_states, task.n_actions
    if states == 0 or actions == 0 or task.n_observations == 0:
        raise ValueError(
            f"task {task.name!r}: expected at least one state, action and observation, actual: "
            f"{states} states, {actions} actions, {task.n_observations} observations"
        )
    outcomes = task.next_state.shape[-1] if task.next_state.ndim == 3 else 1
    shapes = {
        "observation": (states,),
        "start": (states,),
        **dict.fromkeys(
            ("next_state", "probability", "reward", "ends"), (states, actions, outcomes)
        ),
        "cue": (states, task.cue.shape[-1]),
    }
    for name, shape in shapes.items():
        actual = getattr(task, name).shape
        if actual != shape:
            raise ValueError(f"task {task.name!r}: {name} must have shape {shape}, actual {actual}")
    _check_range(task, "observation", 0, task.n_observations)
    _check_range(task, "next_state", 0, states)
    _check_range(task, "cue", -1, task.n_observations)
    _check_distribution(task, "start")
    _check_distribution(task, "probability")
    if not np.isfinite(task.reward).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(task.reward))[0])
        raise ValueError(f"task {task.name!r}: reward{where} must be finite")
    _check_time(task)
    if task.picture is not None:
        _check_picture(task, task.picture)


def _check_range(task: FiniteTask, name: str, low: int, high: int) -> None:
    values = getattr(task, name)
    wrong = np.argwhere((values < low) | (values >= high))
    if len(wrong):
        where = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"task {task.name!r}: {name}{where} must be in {low}..{high - 1}, "
            f"actual {values[where]}"
        )


def _check_distribution(task: FiniteTask, name: str) -> None:
    values = getattr(task, name)
    wrong = np.argwhere(~(values >= 0))
    if len(wrong):
        where = tuple(int(i) for i in wrong[0])
        raise ValueError(f"task {task.name!r}: {name}{where} must not be negative or NaN")
    sums = np.atleast_1d(values.sum(axis=-1))
    wrong = np.argwhere(np.abs(sums - 1) > 1e-9)
    if len(wrong):
        where = tuple(int(i) for i in wrong[0])
        of = f" of (state, action) {where}" if values.ndim > 1 else ""
        raise ValueError(f"task {task.name!r}: {name}{of} must sum to 1, actual {sums[where]:.6g}")


def _check_time(task: FiniteTask) -> None:
    if task.discount is not None and not 0 <= task.discount <= 1:
        raise ValueError(f"task {task.name!r}: discount must be in 0..1, actual {task.discount}")
    if task.time_limit is None:
        return
    if task.continual:
        raise ValueError(f"task {task.name!r}: a continual task has no time limit")
    if not isinstance(task.time_limit, int | np.integer) or task.time_limit < 1:
        raise ValueError(
            f"task {task.name!r}: time_limit must be an integer of at least 1, "
            f"actual {task.time_limit}"
        )


def _check_picture(task: FiniteTask, picture: Picture) -> None:
    if picture.background.ndim != 2:
        raise ValueError(
            f"task {task.name!r}: picture.background must have rows and columns, "
            f"actual shape {picture.background.shape}"
        )
    shapes = {"agent": (task.n_states, 2), "cue_cells": (*task.cue.shape, 2)}
    for name, shape in shapes.items():
        cells = getattr(picture, name)
        if cells.shape != shape:
            raise ValueError(
                f"task {task.name!r}: picture.{name} must have shape {shape}, actual {cells.shape}"
            )
        low = 0 if name == "agent" else -1
        if ((cells < low) | (cells >= picture.background.shape)).any():
            raise ValueError(
                f"task {task.name!r}: picture.{name} must lie within {picture.background.shape}"
            )
    symbols = picture.background
    if ((symbols < -1) | (symbols >= task.n_observations)).any():
        raise ValueError(
            f"task {task.name!r}: picture.background must be in -1..{task.n_observations - 1}"
        )
