"""Concentration: turn over two cards that match."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import Outcome, zero
from adastack.tasks.worlds.popgym.cards import shuffled
from adastack.tasks.worlds.popgym.drawing import HIDDEN, TILES, Tile, draw_board
from adastack.tasks.worlds.popgym.game import CardGameByKind

NONE = -1


class Table(NamedTuple):
    """Cards on a table, most of them face down."""

    deck: Array
    """(cards,): their kinds."""
    matched: Array
    """(cards,): which ones have been matched; they stay face up."""
    first: Array
    """The first card of a pair that is being turned over, or -1."""
    shown: Array
    """(cards,): which ones are seen."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class Concentration(CardGameByKind):
    """POPGym's Concentration: a pair pays, and turning over what does not match costs."""

    @property
    def time_limit(self) -> int:  # type: ignore[override]
        """What a perfect player needs on average, by POPGym's reckoning."""
        n = self.cards
        return math.ceil(2 * n - n / (2 * n - 1))

    @property
    def observation_space(self) -> MultiDiscrete:
        """The kind of each card, or one more if it is face down."""
        return MultiDiscrete([self.n_kinds + 1] * self.cards)

    @property
    def action_space(self) -> Discrete:
        """Which card to turn over."""
        return Discrete(self.cards)

    def begin(self, key: Array) -> Table:
        """Shuffles, and lays all cards face down."""
        deck = shuffled(key, self.decks, self.kind)
        down = jnp.zeros(self.cards, jnp.bool_)
        return Table(deck, down, jnp.asarray(NONE, jnp.int32), down, zero())

    def act(self, key: Array, state: Table, action: Array) -> Outcome:
        """Turns a card over; a second one closes the pair, and so does one that was matched."""
        place = jnp.arange(self.cards)
        turned = (place == action) | (place == state.first)
        second = state.first != NONE
        wasted = state.matched[action]
        same = (state.deck[action] == state.deck[state.first]) & (action != state.first)
        match = second & same & ~wasted
        cost = -(1.0 + second) / self.time_limit
        closed = jnp.where(match, 1 / (self.cards // 2), cost)
        reward = jnp.where(wasted | second, closed, 0.0)
        after = Table(
            state.deck,
            state.matched | (turned & match),
            jnp.where(wasted | second, NONE, action),
            state.matched | turned,
            state.clock + 1,
        )
        done = after.matched.all()
        return Outcome(after, reward, terminated=done, success=done)

    def observe(self, state: Table) -> Array:
        """The cards that are face up, and those of the last turn."""
        return jnp.where(state.shown, state.deck, self.n_kinds)

    def draw(self, state: Table, memory: Slots | None = None) -> Image:
        """The table, and what was seen of it below."""
        tile, down = TILES[self.kind], self.n_kinds

        def cards(seen: Any) -> list[list[Tile]]:
            tiles = [HIDDEN if kind == down else tile(kind) for kind in seen]
            return [tiles[at : at + 13] for at in range(0, self.cards, 13)]

        seen = np.where(state.shown, state.deck, down)
        return draw_board(cards(seen), memory, cards)
