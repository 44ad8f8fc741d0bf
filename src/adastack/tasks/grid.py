"""Small grid worlds, read from a map written as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adastack.tasks.finite import Ints, Picture
from adastack.tasks.tmaze import DOWN, LEFT, RIGHT, UP

STEPS = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}


@dataclass(frozen=True)
class Grid:
    """The cells of a map and where each move leads from them; walls block."""

    shape: tuple[int, int]
    cells: Ints
    """(cells, 2): row and column of each cell."""
    marks: tuple[str, ...]
    """The character of each cell on the map."""
    moves: Ints
    """(cells, 4): the cell that up, right, down and left lead to."""

    def find(self, mark: str) -> int:
        """The cell that carries this character."""
        return self.marks.index(mark)

    def names(self, landmarks: Mapping[str, str]) -> tuple[str, ...]:
        """What each cell is called: the landmark on it, or ``row,column``."""
        places = [f"{row},{column}" for row, column in self.cells.tolist()]
        return tuple(
            landmarks.get(mark, place) for mark, place in zip(self.marks, places, strict=True)
        )

    def background(self, symbols: Sequence[int]) -> Ints:
        """The map with the given symbol in each cell and -1 where there is none."""
        grid = np.full(self.shape, -1, np.int32)
        grid[self.cells[:, 0], self.cells[:, 1]] = symbols
        return grid

    def picture(self, copies: int) -> Picture:
        """The picture of a task with this many hidden states for each cell and no cue.

        State ``copy * len(cells) + cell`` is at ``cell``, and cells are their own observations.
        """
        n_states = copies * len(self.cells)
        agent = np.tile(self.cells, (copies, 1))
        return Picture(
            self.background(range(len(self.cells))), agent, np.zeros((n_states, 0, 2), np.int32)
        )


def read_grid(rows: Sequence[str]) -> Grid:
    """Reads a map: spaces are walls, every other character is a cell.

    Example:
        >>> from adastack.tasks.grid import read_grid
        >>> read_grid(["A.B"]).moves[:, 1]
        array([1, 2, 2], dtype=int32)
    """
    places = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != " "]
    number = {place: index for index, place in enumerate(places)}
    moves = [
        [number.get((r + STEPS[move][0], c + STEPS[move][1]), number[r, c]) for move in range(4)]
        for r, c in places
    ]
    return Grid(
        shape=(len(rows), max(len(row) for row in rows)),
        cells=np.array(places, np.int32),
        marks=tuple(rows[r][c] for r, c in places),
        moves=np.array(moves, np.int32),
    )
