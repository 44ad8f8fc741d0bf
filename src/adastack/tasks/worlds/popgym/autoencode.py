"""Autoencode: watch a deck, then name its cards from the last to the first."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import Step
from adastack.tasks.worlds.popgym.cards import DECK, SUITS, checked_decks, shuffled
from adastack.tasks.worlds.popgym.drawing import Tile, draw_cards, suit
from adastack.tasks.worlds.popgym.game import Game, right_or_wrong, start
from adastack.tasks.worlds.popgym.repeat import Dealt

PLAY, WATCH = 0, 1


@dataclass(frozen=True)
class Autoencode(Game):
    """POPGym's Autoencode; an observation is the mode, then the suit."""

    decks: int = 1
    """Decks to be watched and named."""

    def __post_init__(self) -> None:
        checked_decks(self, self.decks)

    @property
    def observation_space(self) -> MultiDiscrete:
        """Whether to watch (1) or to play (0), and the card; suit 0 once there is none."""
        return MultiDiscrete([2, len(SUITS)])

    @property
    def action_space(self) -> Discrete:
        """A suit."""
        return Discrete(len(SUITS))

    def reset(self, key: Array) -> tuple[Dealt, Array]:
        """Shuffles, and shows the first card."""
        state = Dealt(shuffled(key, self.decks, "suits"), start())
        return state, self.observe(state)

    def step(self, key: Array, state: Dealt, action: Array) -> Step:
        """Shows a card, or takes an answer."""
        cards, asked = DECK * self.decks, self.asked(state)
        after = Dealt(state.deck, state.clock + 1)
        answer = right_or_wrong(action == state.deck[asked], 1 / cards)
        reward = jnp.where(asked < cards, answer, 0.0)
        return self.stepped(after, reward, terminated=asked == 0)

    def asked(self, state: Dealt) -> Array:
        """Which card is to be named; none while it is beyond the deck."""
        return 2 * (DECK * self.decks - 1) - state.clock

    def observe(self, state: Dealt) -> Array:
        """The mode, and the card: the last one comes with the mode to play."""
        last = DECK * self.decks - 1
        mode = jnp.where(state.clock < last, WATCH, PLAY)
        card = jnp.where(state.clock <= last, state.deck[state.clock], 0)
        return jnp.stack([mode, card])

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card that is shown, or the one to name, and the memory below."""
        last, asked = DECK * self.decks - 1, int(self.asked(state))
        cards: dict[str, Tile] = {}
        if state.clock <= last:
            cards["watch" if state.clock < last else "last card"] = suit(state.deck[state.clock])
        if 0 <= asked <= last:
            cards["to name"] = suit(state.deck[asked])
        return draw_cards(cards, memory, lambda seen: suit(seen[1], faint=seen[0] == PLAY))
