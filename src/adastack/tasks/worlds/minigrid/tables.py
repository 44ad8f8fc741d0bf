"""MiniGrid-Memory written down as tables: where one can stand, what is seen there, where one gets.

A *place* is all that an episode's state has besides its clock: how long the hallway is, the cell,
the direction, the object in the start room and the object at the upper end of the split. Nothing
else ever changes, because objects can be neither picked up nor toggled in these worlds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
Views = NDArray[np.uint8]
Cell = tuple[int, int]
Key = tuple[int, int, int, int, int, int]
"""End of the hallway, x, y, direction, start object, upper object."""

UNSEEN, EMPTY, WALL, KEY, BALL = 0, 1, 2, 5, 6
"""How MiniGrid numbers what it shows."""

GREEN, GREY = 1, 5
"""How MiniGrid numbers the colours of objects and walls."""

VIEW = 7
"""The width and depth of what the agent sees."""

LEFT, RIGHT, FORWARD = 0, 1, 2
N_ACTIONS = 7

DIRECTIONS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
"""Right, down, left, up, as (x, y) with y downwards."""


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """All places of one world."""

    following: Ints
    """(places, 7): the place after each action."""
    outcome: Ints
    """(places,): 1 where the matching object is reached, -1 where the other is, 0 elsewhere."""
    seen: Ints
    """(places,): which of the views is seen."""
    views: Views
    """(views, 7, 7, 3): the different views, as MiniGrid encodes them."""
    cue: Ints
    """(places,): the object that has to be remembered."""
    shown: Ints
    """(places,): that object where it is in view, else -1."""
    starts: Ints
    """(hallways, places at most): where an episode can begin, -1 beyond ``n_starts``."""
    n_starts: Ints
    """(hallways,)."""
    index: dict[Key, int]
    """The place that each key stands for."""


@cache
def memory_tables(size: int, random_length: bool) -> MemoryTables:
    """The tables of a world of ``size`` x ``size`` cells."""
    ends = hallway_ends(size, random_length)
    keys = [
        (end, *cell, direction, start, upper)
        for end in ends
        for cell in floor(size, end)
        for direction, start, upper in product(range(4), (KEY, BALL), (KEY, BALL))
    ]
    index = {key: place for place, key in enumerate(keys)}
    images, shown = _views(size, keys)
    views, seen = np.unique(images.reshape(len(keys), -1), axis=0, return_inverse=True)
    starts = [[index[key] for key in keys if _is_start(size, key, end)] for end in ends]
    padded = np.full((len(ends), max(map(len, starts))), -1, np.int32)
    for row, places in zip(padded, starts, strict=True):
        row[: len(places)] = places
    return MemoryTables(
        following=_following(keys, index),
        outcome=np.array([_outcome(size, key) for key in keys], np.int32),
        seen=seen.reshape(-1).astype(np.int32),
        views=views.reshape(-1, VIEW, VIEW, 3),
        cue=np.array([key[4] for key in keys], np.int32),
        shown=shown,
        starts=padded,
        n_starts=np.array([len(places) for places in starts], np.int32),
        index=index,
    )


def hallway_ends(size: int, random_length: bool) -> list[int]:
    """The columns where the hallway can end."""
    return list(range(4, size - 2)) if random_length else [size - 3]


def floor(size: int, end: int) -> list[Cell]:
    """The cells where the agent can stand: the room, the hallway and three cells of the split."""
    middle = size // 2
    room = [(x, y) for x in (1, 2, 3) for y in (middle - 1, middle, middle + 1)]
    room.remove(_cue_cell(size))
    hallway = [(x, middle) for x in range(4, end + 1)]
    return room + hallway + [(end + 1, y) for y in (middle - 1, middle, middle + 1)]


def objects(size: int, end: int, start: int, upper: int) -> NDArray[np.uint8]:
    """(x, y): what stands in each cell."""
    grid = np.full((size, size), EMPTY, np.uint8)
    middle = size // 2
    grid[[0, -1]] = WALL
    grid[:, [0, -1]] = WALL
    grid[1:5, [middle - 2, middle + 2]] = WALL
    grid[4:end, [middle - 1, middle + 1]] = WALL
    grid[4, [middle - 1, middle + 1]] = WALL
    grid[end, np.arange(size) != middle] = WALL
    grid[end + 2] = WALL
    grid[_cue_cell(size)] = start
    grid[end + 1, middle - 2] = upper
    grid[end + 1, middle + 2] = KEY + BALL - upper
    return grid


def visible(walls: Bools) -> Bools:
    """(n, 7, 7): what is seen of views of these walls, from the middle of their last row.

    Sight spreads row by row away from the agent, to the right and then to the left, from each cell
    that is seen and is no wall to its neighbour and to the cells ahead of both.
    """
    seen = np.zeros_like(walls)
    seen[:, VIEW // 2, VIEW - 1] = True
    for row in range(VIEW - 1, -1, -1):
        rightwards = [(column, column + 1) for column in range(VIEW - 1)]
        leftwards = [(column, column - 1) for column in range(VIEW - 1, 0, -1)]
        for column, beside in rightwards + leftwards:
            through = seen[:, column, row] & ~walls[:, column, row]
            seen[:, beside, row] |= through
            if row > 0:
                seen[:, beside, row - 1] |= through
                seen[:, column, row - 1] |= through
    return seen


def _views(size: int, keys: list[Key]) -> tuple[Views, Ints]:
    """What is seen from each place, encoded, and the cue where it is seen."""
    grids = {key: objects(size, *key) for key in {(k[0], k[4], k[5]) for k in keys}}
    ahead, aside = np.meshgrid(np.arange(VIEW - 1, -1, -1), np.arange(VIEW) - VIEW // 2)
    cells, is_cue = [], []
    for end, x, y, direction, start, upper in keys:
        forward = DIRECTIONS[direction]
        right = DIRECTIONS[(direction + 1) % 4]
        where = (x, y) + ahead[..., None] * forward + aside[..., None] * right
        inside = ((where >= 0) & (where < size)).all(axis=-1)
        at = np.clip(where, 0, size - 1)
        cells.append(np.where(inside, grids[end, start, upper][at[..., 0], at[..., 1]], WALL))
        is_cue.append((where == _cue_cell(size)).all(axis=-1))
    kinds = np.array(cells)
    seen = visible(kinds == WALL)
    kinds[:, VIEW // 2, VIEW - 1] = EMPTY
    colours = np.select([kinds == WALL, kinds > WALL], [GREY, GREEN], 0)
    images = np.stack([kinds, colours, np.zeros_like(kinds)], axis=-1) * seen[..., None]
    cue_seen = (np.array(is_cue) & seen).any(axis=(1, 2))
    cue = np.array([key[4] for key in keys])
    return images.astype(np.uint8), np.where(cue_seen, cue, -1).astype(np.int32)


def _following(keys: list[Key], index: dict[Key, int]) -> Ints:
    table = np.repeat(np.arange(len(keys), dtype=np.int32)[:, None], N_ACTIONS, axis=1)
    for place, (end, x, y, direction, start, upper) in enumerate(keys):
        table[place, LEFT] = index[end, x, y, (direction - 1) % 4, start, upper]
        table[place, RIGHT] = index[end, x, y, (direction + 1) % 4, start, upper]
        dx, dy = (int(step) for step in DIRECTIONS[direction])
        # Where there is no floor, something is in the way.
        table[place, FORWARD] = index.get((end, x + dx, y + dy, direction, start, upper), place)
    return table


def _outcome(size: int, key: Key) -> int:
    end, x, y, _, start, upper = key
    middle = size // 2
    if x != end + 1 or y == middle:
        return 0
    matching = upper if y < middle else KEY + BALL - upper
    return 1 if matching == start else -1


def _is_start(size: int, key: Key, end: int) -> bool:
    """Whether an episode can begin there: in the middle row up to the split, facing right."""
    return key[0] == end and key[2] == size // 2 and key[1] <= end and key[3] == 0


def _cue_cell(size: int) -> Cell:
    return 1, size // 2 - 1
