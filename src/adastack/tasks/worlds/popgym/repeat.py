"""Repeat First and Repeat Previous: name the suit of a card that was dealt before."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array

from adastack.memory.regret import NOTHING
from adastack.tasks.checks import checked_integer
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import Outcome
from adastack.tasks.worlds.popgym.drawing import draw_cards, suit
from adastack.tasks.worlds.popgym.game import Dealt, DealtGame, right_or_wrong


@dataclass(frozen=True)
class RepeatFirst(DealtGame):
    """At each card, name the suit of the first; POPGym's RepeatFirst."""

    def act(self, key: Array, state: Dealt, action: Array) -> Outcome:
        """Takes an answer, and deals a card."""
        after, last = state.next_card(), self.cards - 1
        reward = right_or_wrong(action == state.deck[0], 1 / last)
        return Outcome(after, reward, terminated=after.clock >= last)

    def signals(self, state: Dealt) -> dict[str, Array]:
        """The suit of the first card; any card of that suit says it."""
        return {"shown": self.observe(state), "cue": state.deck[:1]}

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card on the table and the first one, and the memory below."""
        cards = {"now": state.deck[state.clock], "to name": state.deck[0]}
        return draw_cards({name: suit(card) for name, card in cards.items()}, memory, suit)


@dataclass(frozen=True)
class RepeatPrevious(DealtGame):
    """At each card, name the suit of the one ``k - 1`` before it; POPGym's RepeatPrevious."""

    k: int = 4
    """Cards from the one to name to the one on the table, both included."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", checked_integer("k", self.k, 1, self.cards - 1))

    def act(self, key: Array, state: Dealt, action: Array) -> Outcome:
        """Takes an answer, once there is one, and deals a card."""
        after, asked = state.next_card(), self.asked(state)
        answer = right_or_wrong(action == state.deck[asked], 1 / (self.cards - self.k))
        reward = jnp.where(asked >= 0, answer, 0.0)
        return Outcome(after, reward, terminated=after.clock >= self.cards - 1)

    def asked(self, state: Dealt) -> Array:
        """Which card is to be named; negative as long as there have been too few."""
        return state.clock - (self.k - 1)

    def signals(self, state: Dealt) -> dict[str, Array]:
        """Cards by their number: only that one card says what it is."""
        cue = jnp.maximum(self.asked(state), NOTHING)
        return {"shown": state.clock, "cue": cue[None]}

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card on the table and the one to name, and the memory below."""
        asked = int(self.asked(state))
        cards = {"now": suit(state.deck[state.clock])}
        if asked >= 0:
            cards["to name"] = suit(state.deck[asked])
        return draw_cards(cards, memory, suit)
