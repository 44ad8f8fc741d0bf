"""Autoencode: watch a deck being dealt, then name its suits in reverse."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from gymnasium.spaces import MultiDiscrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import Outcome
from adastack.tasks.worlds.popgym.cards import SUITS
from adastack.tasks.worlds.popgym.drawing import Tile, draw_cards, suit
from adastack.tasks.worlds.popgym.game import Dealt, DealtGame, right_or_wrong

PLAY, WATCH = 0, 1


@dataclass(frozen=True)
class Autoencode(DealtGame):
    """POPGym's Autoencode; an observation is the mode, then the suit."""

    @property
    def observation_space(self) -> MultiDiscrete:  # type: ignore[override]
        """Whether to watch (1) or to play (0), and the card; suit 0 once there is none."""
        return MultiDiscrete([2, len(SUITS)])

    def act(self, key: Array, state: Dealt, action: Array) -> Outcome:
        """Shows a card, or takes an answer."""
        asked = self.asked(state)
        answer = right_or_wrong(action == state.deck[asked], 1 / self.cards)
        reward = jnp.where(asked < self.cards, answer, 0.0)
        return Outcome(state.next_card(), reward, terminated=asked == 0)

    def asked(self, state: Dealt) -> Array:
        """Which card is to be named; none while it is beyond the deck."""
        return 2 * (self.cards - 1) - state.clock

    def observe(self, state: Dealt) -> Array:
        """The mode, and the card: the last one comes with the mode to play."""
        last = self.cards - 1
        mode = jnp.where(state.clock < last, WATCH, PLAY)
        card = jnp.where(state.clock <= last, state.deck[state.clock], 0)
        return jnp.stack([mode, card])

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card that is shown, or the one to name, and the memory below."""
        last, asked = self.cards - 1, int(self.asked(state))
        cards: dict[str, Tile] = {}
        if state.clock <= last:
            cards["watch" if state.clock < last else "last card"] = suit(state.deck[state.clock])
        if 0 <= asked <= last:
            cards["to name"] = suit(state.deck[asked])
        return draw_cards(cards, memory, lambda seen: suit(seen[1], faint=seen[0] == PLAY))
