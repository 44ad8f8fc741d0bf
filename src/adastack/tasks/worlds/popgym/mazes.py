"""Mazes by hunt and kill: random walks that carve, and a new one wherever there is room."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from adastack.tasks.functional import index_below

FREE, WALL, START, GOAL, HIDDEN = range(5)
"""What a cell can be; POPGym's numbers."""


class Maze(NamedTuple):
    """A maze with two entrances, as yet closed."""

    grid: Array
    """(2 rooms + 1, 2 rooms + 1): `FREE` or `WALL`."""
    start: Array
    """Row and column of one entrance."""
    end: Array
    """Row and column of the other one, on the opposite side."""


def carve(key: Array, rooms: int) -> Maze:
    """A maze in which there is exactly one way from any room to any other.

    A walk goes from room to random unvisited neighbour until it has none. The next begins in a
    random visited room that still has one.

    Args:
        key: For all draws.
        rooms: Along each side.
    """
    to = jnp.asarray(doors(rooms))
    # All draws at once: the generator is most of what has to be compiled.
    draws = jax.random.uniform(key, (rooms**2 + 1, 2))
    first = index_below(rooms**2, draws[0, 0])

    def walk(carry: tuple[Array, Array], draw: Array) -> tuple[tuple[Array, Array], Array]:
        visited, here = carry
        open_to = (to >= 0) & ~visited[to]
        useful = visited & open_to.any(axis=1)
        stuck = ~useful[here]
        here = jnp.where(stuck, _drawn(useful, draw[0]), here)
        there = to[here, _drawn(open_to[here], draw[1])]
        return (visited.at[there].set(True), there), jnp.stack([here, there])

    visited = jnp.zeros(rooms**2, jnp.bool_).at[first].set(True)
    _, steps = jax.lax.scan(walk, (visited, first), draws[2:])
    # Rows and columns of rooms are odd; between two of them is the middle of both.
    rows, columns = 2 * (steps // rooms) + 1, 2 * (steps % rooms) + 1
    size = 2 * rooms + 1
    grid = jnp.full((size, size), WALL, jnp.int32)
    grid = grid.at[rows, columns].set(FREE)
    grid = grid.at[rows.sum(axis=1) // 2, columns.sum(axis=1) // 2].set(FREE)
    return Maze(grid, *_entrances(draws[0, 1], draws[1], rooms))


def _entrances(side: Array, places: Array, rooms: int) -> tuple[Array, Array]:
    """Two entrances, anywhere on opposite sides: north to south, back, west to east, back."""
    side = index_below(4, side)
    along = 2 * index_below(rooms, places) + 1
    across = jnp.where(side % 2 == 0, jnp.array([0, 2 * rooms]), jnp.array([2 * rooms, 0]))
    pairs = jnp.stack([across, along], axis=1)
    pairs = jnp.where(side < 2, pairs, pairs[:, ::-1])
    return pairs[0], pairs[1]


@cache
def doors(rooms: int) -> NDArray[np.int32]:
    """(rooms^2, 4): the room above, below, left and right of each; -1 for none."""
    room = np.pad(np.arange(rooms**2).reshape(rooms, rooms), 1, constant_values=-1)
    sides = room[:-2, 1:-1], room[2:, 1:-1], room[1:-1, :-2], room[1:-1, 2:]
    return np.stack([side.ravel() for side in sides], axis=1).astype(np.int32)


def _drawn(mask: Array, draw: Array) -> Array:
    """The index of a random True."""
    return jnp.argmax(jnp.cumsum(mask) > index_below(mask.sum(), draw))
