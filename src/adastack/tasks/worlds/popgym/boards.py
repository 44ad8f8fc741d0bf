"""Battleship and Mine Sweeper: boards that are never shown, only what a shot or a click finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete
from jax import Array
from numpy.typing import NDArray

from adastack.tasks.checks import checked_integer
from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import index_below
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.popgym.drawing import HIDDEN, Tile, draw_board

SHIPS = (2, 3, 3, 4)
SEA = Tile("", canvas.SKY)


class BoardState(NamedTuple):
    """A board, row by row, and what has been found out about it."""

    hidden: Array
    """(cells,): where the ships or the mines are."""
    tried: Array
    """(cells,): where shots or clicks went."""
    seen: Array
    """What the last one found."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class _Board(FunctionalBase, least={"size": 5}):
    size: int = 8
    """Cells along each side."""

    @property
    def action_space(self) -> Discrete:
        """A cell."""
        return Discrete(self.size**2)

    def observe(self, state: BoardState) -> Array:
        """What the last shot or click found."""
        return state.seen

    def _begun(self, hidden: Array) -> BoardState:
        return BoardState(hidden, jnp.zeros_like(hidden), zero(), zero())


@dataclass(frozen=True)
class Battleship(_Board):
    """POPGym's Battleship; its action (row, column) is ``row * size + column`` here."""

    @property
    def time_limit(self) -> int:  # type: ignore[override]
        """One shot at each cell."""
        return self.size**2

    @property
    def observation_space(self) -> Discrete:
        """Whether the last shot hit what had not been hit."""
        return Discrete(2)

    def begin(self, key: Array) -> BoardState:
        """Places the ships one by one, each anywhere where it fits."""
        board = jnp.zeros(self.size**2, jnp.bool_)
        for ship, draw in zip(SHIPS, jax.random.uniform(key, (len(SHIPS),)), strict=True):
            places = jnp.asarray(ship_places(self.size, ship))
            free = ~board[places].any(axis=1)
            chosen = _nth(free, index_below(free.sum(), draw))
            board = board.at[places[chosen]].set(True)
        return self._begun(board)

    def act(self, key: Array, state: BoardState, action: Array) -> Outcome:
        """Shoots at a cell."""
        hit = state.hidden[action] & ~state.tried[action]
        tried = state.tried | (jnp.arange(self.size**2) == action)
        after = BoardState(state.hidden, tried, hit.astype(jnp.int32), state.clock + 1)
        ships = sum(SHIPS)
        reward = jnp.where(hit, 1 / ships, -1 / (self.size**2 - ships))
        sunk = ~(state.hidden & ~tried).any()
        return Outcome(after, reward, terminated=sunk, success=sunk)

    def draw(self, state: BoardState, memory: Slots | None = None) -> Image:
        """The ships and the shots, and what the memory holds below."""
        cells = {
            (False, False): SEA,
            (False, True): Tile("o", canvas.SKY),
            (True, False): HIDDEN,
            (True, True): Tile("x", canvas.VERMILION),
        }
        board = [cells[bool(ship), bool(shot)] for ship, shot in zip(*state[:2], strict=True)]
        return draw_board(_rows(board), memory, lambda seen: cells[bool(seen), True])


@dataclass(frozen=True)
class MineSweeper(_Board, least={"size": 2}):
    """POPGym's MineSweeper; its action (row, column) is ``row * size + column`` here."""

    size: int = 4
    """Cells along each side."""
    mines: int = 2
    """How many there are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        mines = checked_integer("mines", self.mines, 1, self.size**2 - 3)
        object.__setattr__(self, "mines", mines)

    @property
    def time_limit(self) -> int:  # type: ignore[override]
        """One click on each cell without a mine."""
        return self.size**2 - self.mines

    @property
    def observation_space(self) -> Discrete:
        """How many mines are in the last cell and around it."""
        return Discrete(min(self.mines + 1, 10))

    def begin(self, key: Array) -> BoardState:
        """Places the mines."""
        return self._begun(_fewest(jax.random.uniform(key, (self.size**2,)), self.mines))

    def act(self, key: Array, state: BoardState, action: Array) -> Outcome:
        """Clicks on a cell."""
        found = 1 / self.time_limit
        mine, again = state.hidden[action], state.tried[action]
        tried = state.tried | ((jnp.arange(self.size**2) == action) & ~mine)
        around = jnp.asarray(neighbours(self.size))[action]
        seen = jnp.sum(around & state.hidden)
        after = BoardState(state.hidden, tried, seen, state.clock + 1)
        useless = -0.5 / (self.time_limit - 2)
        reward = jnp.where(mine, -0.5 - found, jnp.where(again, useless, found))
        cleared = (state.hidden | tried).all()
        terminated = mine | cleared
        late = ~terminated & (after.clock >= self.time_limit)
        return Outcome(after, reward, terminated, late, success=cleared & ~mine)

    def draw(self, state: BoardState, memory: Slots | None = None) -> Image:
        """The mines and what was clicked, and what the memory holds below."""
        around = neighbours(self.size) @ np.asarray(state.hidden, int)
        board = [
            Tile("M", canvas.VERMILION) if mine else Tile(str(n)) if tried else HIDDEN
            for mine, tried, n in zip(state.hidden, state.tried, around, strict=True)
        ]
        return draw_board(_rows(board), memory, lambda seen: Tile(str(int(seen))))


@cache
def ship_places(size: int, ship: int) -> NDArray[np.int32]:
    """(places, ship): the cells of each way to place a ship on an empty board."""
    cells = np.arange(size**2).reshape(size, size)
    ends = size - ship + 1
    lying = [cells[row, at : at + ship] for row in range(size) for at in range(ends)]
    standing = [cells[at : at + ship, column] for column in range(size) for at in range(ends)]
    return np.array(lying + standing, np.int32)


@cache
def neighbours(size: int) -> NDArray[np.bool_]:
    """(cells, cells): which cells touch, each one itself included."""
    rows, columns = np.divmod(np.arange(size**2), size)
    near = np.maximum(abs(rows[:, None] - rows), abs(columns[:, None] - columns)) <= 1
    return np.asarray(near)


def _nth(mask: Array, n: Array) -> Array:
    """The index of the n-th True."""
    return jnp.argmax(jnp.cumsum(mask) > n)


def _fewest(draws: Array, n: int) -> Array:
    """Where the n least numbers are; of equal ones the first count as less."""
    # So few numbers are compared sooner than sorted.
    place = jnp.arange(len(draws))
    less = (draws < draws[:, None]) | ((draws == draws[:, None]) & (place < place[:, None]))
    return less.sum(axis=1) < n


def _rows(tiles: list[Tile]) -> list[list[Tile]]:
    size = int(len(tiles) ** 0.5)
    return [tiles[at : at + size] for at in range(0, len(tiles), size)]
