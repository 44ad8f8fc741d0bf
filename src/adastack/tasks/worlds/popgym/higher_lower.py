"""Higher Lower: guess whether the next card is higher than the one on the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from gymnasium.spaces import Discrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import Outcome
from adastack.tasks.worlds.popgym.drawing import draw_cards, rank
from adastack.tasks.worlds.popgym.game import Dealt, DealtGame, right_or_wrong

HIGHER, LOWER = 0, 1


@dataclass(frozen=True)
class HigherLower(DealtGame):
    """POPGym's HigherLower: counting the cards tells which ranks are left."""

    kind: ClassVar[str] = "ranks"

    @property
    def action_space(self) -> Discrete:
        """Higher, or lower."""
        return Discrete(2)

    def act(self, key: Array, state: Dealt, action: Array) -> Outcome:
        """Takes a guess, and deals a card; one of the same rank pays nothing."""
        after = state.next_card()
        now, then = self.observe(state), self.observe(after)
        guess = right_or_wrong((then > now) == (action == HIGHER), 1 / self.cards)
        reward = jnp.where(then == now, 0.0, guess)
        return Outcome(after, reward, terminated=after.clock >= self.cards - 1)

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card on the table and the next one, and the memory below."""
        cards = {"now": rank(state.deck[state.clock])}
        if state.clock + 1 < len(state.deck):
            cards["next"] = rank(state.deck[state.clock + 1])
        return draw_cards(cards, memory, rank)
