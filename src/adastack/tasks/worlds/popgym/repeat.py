"""Repeat First and Repeat Previous: name the suit of a card that was dealt before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from gymnasium.spaces import Discrete
from jax import Array

from adastack.memory.regret import NOTHING
from adastack.tasks.checks import checked_whole
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import Step
from adastack.tasks.worlds.popgym.cards import DECK, SUITS, checked_decks, shuffled
from adastack.tasks.worlds.popgym.drawing import draw_cards, suit
from adastack.tasks.worlds.popgym.game import Game, right_or_wrong, start


class Dealt(NamedTuple):
    """A deck of which some cards have been dealt."""

    deck: Array
    """(cards,): their kinds, in the order in which they are dealt."""
    clock: Array
    """Steps since the reset; the card on the table is ``deck[clock]``."""


@dataclass(frozen=True)
class RepeatFirst(Game):
    """At each card, name the suit of the first; POPGym's RepeatFirst.

    Example:
        >>> import jax
        >>> from adastack.tasks.worlds.popgym.repeat import RepeatFirst
        >>> task = RepeatFirst(decks=1)
        >>> state, suit = task.reset(jax.random.key(0))
        >>> step = task.step(jax.random.key(1), state, suit)
        >>> round(float(step.reward) * 51, 5)
        1.0
    """

    decks: int = 1
    """Decks that are dealt to the last card."""

    def __post_init__(self) -> None:
        checked_decks(self, self.decks)

    @property
    def observation_space(self) -> Discrete:
        """The suit of the card on the table."""
        return Discrete(len(SUITS))

    @property
    def action_space(self) -> Discrete:
        """A suit."""
        return Discrete(len(SUITS))

    def reset(self, key: Array) -> tuple[Dealt, Array]:
        """Shuffles, and deals the first card."""
        state = Dealt(shuffled(key, self.decks, "suits"), start())
        return state, self.observe(state)

    def step(self, key: Array, state: Dealt, action: Array) -> Step:
        """Takes an answer, and deals a card."""
        after = Dealt(state.deck, state.clock + 1)
        last = DECK * self.decks - 1
        reward = right_or_wrong(action == state.deck[0], 1 / last)
        return self.stepped(after, reward, terminated=after.clock >= last)

    def observe(self, state: Dealt) -> Array:
        """The card on the table."""
        return state.deck[state.clock]

    def signals(self, state: Dealt) -> dict[str, Array]:
        """The suit of the first card; any card of that suit says it."""
        return {"shown": self.observe(state), "cue": state.deck[:1]}

    def draw(self, state: Dealt, memory: Slots | None = None) -> Image:
        """The card on the table and the first one, and the memory below."""
        cards = {"now": state.deck[state.clock], "to name": state.deck[0]}
        return draw_cards({name: suit(card) for name, card in cards.items()}, memory, suit)


@dataclass(frozen=True)
class RepeatPrevious(Game):
    """At each card, name the suit of the one ``k - 1`` before it; POPGym's RepeatPrevious."""

    decks: int = 1
    """Decks that are dealt to the last card."""
    k: int = 4
    """Cards from the one to name to the one on the table, both included."""

    def __post_init__(self) -> None:
        checked_decks(self, self.decks)
        object.__setattr__(self, "k", checked_whole("k", self.k, 1, DECK * self.decks - 1))

    @property
    def observation_space(self) -> Discrete:
        """The suit of the card on the table."""
        return Discrete(len(SUITS))

    @property
    def action_space(self) -> Discrete:
        """A suit."""
        return Discrete(len(SUITS))

    def reset(self, key: Array) -> tuple[Dealt, Array]:
        """Shuffles, and deals the first card."""
        state = Dealt(shuffled(key, self.decks, "suits"), start())
        return state, self.observe(state)

    def step(self, key: Array, state: Dealt, action: Array) -> Step:
        """Takes an answer, once there is one, and deals a card."""
        after = Dealt(state.deck, state.clock + 1)
        cards, asked = DECK * self.decks, self.asked(state)
        answer = right_or_wrong(action == state.deck[asked], 1 / (cards - self.k))
        reward = jnp.where(asked >= 0, answer, 0.0)
        return self.stepped(after, reward, terminated=after.clock >= cards - 1)

    def observe(self, state: Dealt) -> Array:
        """The card on the table."""
        return state.deck[state.clock]

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
