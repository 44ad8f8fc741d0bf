"""StretchedTask: a finite task with rows of cells that look alike, each written as one state.

A corridor of a billion cells is a billion states of a `FiniteTask`. They differ in nothing but
their place in the row, so one state and a number describe them all. Policies are evaluated on both
forms alike, and exactly; see `adastack.process.evaluation`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.finite import FiniteTask, Ints

NO_STATE = -1


@dataclass(frozen=True, eq=False)
class StretchedTask:
    """A finite task in which some states are rows of cells.

    In every cell of a row the agent sees the same, and its actions pay the same. An outcome that
    leads from a row to the state at its ``back`` moves the agent one cell towards that, one that
    leads to any other state one cell away from it; the state itself is reached from the cell at the
    row's end. An outcome that leads to the row itself leaves the agent in its cell. Who comes from
    the back, or starts in a row, stands in its first cell; who comes from elsewhere in the last.
    """

    short: FiniteTask
    """The task with one cell in every row; its name and its time limit are those of this task."""
    cells: NDArray[np.int64]
    """(states,): how many cells each state stands for."""
    back: Ints
    """(states,): the state before the first cell of a row; -1 for single cells."""

    def __post_init__(self) -> None:
        rows, name = self.cells > 1, self.short.name
        shape = (self.short.n_states,)
        if self.cells.shape != shape or self.back.shape != shape or (self.cells < 1).any():
            raise ValueError(f"task {name!r}: expected a number of cells for each of its states")
        if self.short.ends[rows].any():
            raise ValueError(f"task {name!r}: an attempt must not end within a row of cells")

    @property
    def name(self) -> str:
        """The name on the command line, with its options."""
        return self.short.name

    @property
    def n_states(self) -> int:
        """The number of cells."""
        return int(self.cells.sum())

    def expanded(self) -> FiniteTask:
        """The same task with a state for every cell: what this one means."""
        short, first = self.short, np.cumsum(self.cells) - self.cells
        state = np.repeat(np.arange(short.n_states), self.cells)
        place = np.arange(len(state)) - first[state]
        start = np.zeros(len(state))
        start[first] = short.start
        return replace(
            short,
            observation=short.observation[state],
            next_state=self._moved(state, place, first),
            probability=short.probability[state],
            reward=short.reward[state],
            ends=short.ends[state],
            start=start,
            cue=short.cue[state],
            picture=None,
        )

    def _moved(
        self, state: NDArray[np.int64], place: NDArray[np.int64], first: NDArray[np.int64]
    ) -> Ints:
        """(cells, actions, outcomes): the cell that follows."""
        target = self.short.next_state[state].astype(np.int64)
        origin, place = state[:, None, None], place[:, None, None]
        backwards = target == self.back[origin]
        after = place + np.where(target == origin, 0, np.where(backwards, -1, 1))
        inside = (self.cells[origin] > 1) & (after >= 0) & (after < self.cells[origin])
        entry = np.where(self.back[target] == origin, 0, self.cells[target] - 1)
        entry = np.where(target == origin, place, entry)
        return np.where(inside, first[origin] + after, first[target] + entry).astype(np.int32)
