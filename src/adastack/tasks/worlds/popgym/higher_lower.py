"""Higher Lower: guess whether the next card is higher than the one on the table."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from gymnasium.spaces import Discrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import Step
from adastack.tasks.worlds.popgym.cards import DECK, RANKS, checked_decks, shuffled
from adastack.tasks.worlds.popgym.drawing import draw_cards, rank
from adastack.tasks.worlds.popgym.game import Game, right_or_wrong, start
from adastack.tasks.worlds.popgym.repeat import Dealt

HIGHER, LOWER = 0, 1


@dataclass(frozen=True)
class HigherLower(Game):
    """POPGym's HigherLower: who has counted knows better what is left."""

    decks: int = 1
    """Decks that are dealt to the last card."""

    def __post_init__(self) -> None:
        checked_decks(self, self.decks)

    @property
    def observation_space(self) -> Discrete:
        """The rank of the card on the table."""
        return Discrete(len(RANKS))

    @property
    def action_space(self) -> Discrete:
        """Higher, or lower."""
        return Discrete(2)

    def reset(self, key: Array) -> tuple[Dealt, Array]:
        """Shuffles, and deals the first card."""
        state = Dealt(shuffled(key, self.decks, "ranks"), start())
        return state, self.observe(state)

    def step(self, key: Array, state: Dealt, action: Array) -> Step:
        """Takes a guess, and deals a card; one of the same rank pays nothing."""
        cards = DECK * self.decks
        after = Dealt(state.deck, state.clock + 1)
        now, then = self.observe(state), self.observe(after)
        guess = right_or_wrong((then > now) == (action == HIGHER), 1 / cards)
        reward = jnp.where(then == now, 0.0, guess)
        return self.stepped(after, reward, terminated=after.clock >= cards - 1)

    def observe(self, state: Dealt) -> Array:
        """The card on the table."""
        return state.deck[state.clock]

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card on the table and the next one, and the memory below."""
        cards = {"now": rank(state.deck[state.clock])}
        if state.clock + 1 < len(state.deck):
            cards["next"] = rank(state.deck[state.clock + 1])
        return draw_cards(cards, memory, rank)
