"""Labyrinth Escape and Explore: mazes of which only the cells around the player are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import INK, WHITE, Image, Slots
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.popgym.drawing import Tile, draw_board
from adastack.tasks.worlds.popgym.mazes import FREE, GOAL, START, WALL, carve

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))
"""Left, right, up, down, as changes of row and column."""
NO_ACTION = len(MOVES)
SIGHT = 3
TILES = (Tile("", WHITE), Tile("", INK), Tile("", canvas.YELLOW), Tile("", canvas.GREEN), Tile())
TRODDEN = Tile("", canvas.SKY)
STEPS = 1024


class Walk(NamedTuple):
    """A player in a maze."""

    grid: Array
    """(cells, cells): what each cell is."""
    position: Array
    """Row and column of the player."""
    explored: Array
    """(cells, cells): where the player has been."""
    last: Array
    """The last action, which is seen; `NO_ACTION` after a reset."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class _Labyrinth(FunctionalBase, least={"size": 6}):
    size: int = 10
    """Cells along each side, without one outer wall; even."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size % 2:
            raise ValueError(f"size must be even, actual: {self.size}")

    @property
    def time_limit(self) -> int:  # type: ignore[override]
        """Steps after which an episode is truncated: one less than POPGym's 1024, as there."""
        return STEPS - 1

    @property
    def observation_space(self) -> MultiDiscrete:
        """Nine cells, row by row, and the last action."""
        return MultiDiscrete([5] * (SIGHT**2 + 1))

    @property
    def action_space(self) -> Discrete:
        """Left, right, up, down."""
        return Discrete(len(MOVES))

    def observe(self, state: Walk) -> Array:
        """The cells around the player and the last action.

        As in POPGym the player is in the middle, but for the first row and the first column: there
        the view is moved by one, and what would be out of sight looks like a wall.
        """
        first = jnp.maximum(state.position - 1, 0)
        padded = jnp.pad(state.grid, ((0, SIGHT), (0, SIGHT)), constant_values=WALL)
        view = jax.lax.dynamic_slice(padded, first, (SIGHT, SIGHT))
        near = first[:, None] + jnp.arange(SIGHT) <= state.position[:, None] + 1
        view = jnp.where(near[0][:, None] & near[1], view, WALL)
        return jnp.append(view.reshape(-1), state.last)

    def moved(self, state: Walk, action: Array) -> Walk:
        """One step later; walls and the edge stop the player."""
        there = jnp.clip(state.position + jnp.asarray(MOVES)[action], 0, self.size)
        blocked = state.grid[there[0], there[1]] == WALL
        position = jnp.where(blocked, state.position, there)
        explored = state.explored.at[position[0], position[1]].set(True)
        return Walk(state.grid, position, explored, action.astype(jnp.int32), state.clock + 1)

    def draw(self, state: Walk, memory: Slots | None = None) -> Image:
        """The maze, where the player has been, and the views that are kept below."""
        board = [
            [TRODDEN if cell == FREE and been else TILES[int(cell)] for cell, been in row]
            for row in np.dstack([state.grid, state.explored])
        ]
        y, x = (int(place) for place in state.position)
        return draw_board(board, memory, _view, (y, x))

    def _begun(self, grid: Array, position: Array) -> Walk:
        grid = grid.at[position[0], position[1]].set(START)
        explored = jnp.zeros(grid.shape, jnp.bool_).at[position[0], position[1]].set(True)
        return Walk(grid, position, explored, jnp.asarray(NO_ACTION, jnp.int32), zero())


@dataclass(frozen=True)
class LabyrinthEscape(_Labyrinth):
    """POPGym's LabyrinthEscape: find the way out, which pays 1; each step costs a little."""

    def begin(self, key: Array) -> Walk:
        """Carves a maze, and puts the player at one entrance."""
        maze = carve(key, self.size // 2)
        grid = maze.grid.at[maze.end[0], maze.end[1]].set(GOAL)
        return self._begun(grid, maze.start)

    def act(self, key: Array, state: Walk, action: Array) -> Outcome:
        """Moves by a cell."""
        after = self.moved(state, action)
        out = state.grid[after.position[0], after.position[1]] == GOAL
        reward = out - 1 / STEPS
        return Outcome(after, reward, terminated=out, success=out)


@dataclass(frozen=True)
class LabyrinthExplore(_Labyrinth):
    """POPGym's LabyrinthExplore: each new cell pays, and every other step costs a little."""

    def begin(self, key: Array) -> Walk:
        """Carves a maze, and puts the player at its entrance; there is no other."""
        maze = carve(key, self.size // 2)
        return self._begun(maze.grid, maze.start)

    def act(self, key: Array, state: Walk, action: Array) -> Outcome:
        """Moves by a cell."""
        after = self.moved(state, action)
        new = ~state.explored[after.position[0], after.position[1]]
        reward = jnp.where(new, 1 / jnp.sum(state.grid == FREE), -1 / STEPS)
        done = (after.explored == (state.grid != WALL)).all()
        return Outcome(after, reward, terminated=done, success=done)


def _view(seen: Any) -> list[list[Tile]]:
    cells = [TILES[int(cell)] for cell in np.asarray(seen)[: SIGHT**2]]
    return [cells[at : at + SIGHT] for at in range(0, SIGHT**2, SIGHT)]
