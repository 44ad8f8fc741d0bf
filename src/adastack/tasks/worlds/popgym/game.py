"""What POPGym's games share: the reward of an answer, and decks that are dealt card by card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from gymnasium.spaces import Discrete
from jax import Array

from adastack.tasks.functional_base import FunctionalBase, zero
from adastack.tasks.worlds.popgym.cards import DECK, KINDS, shuffled


def right_or_wrong(right: Array, share: float) -> Array:
    """The reward of an answer: plus or minus its share."""
    return jnp.where(right, share, -share)


@dataclass(frozen=True)
class CardGame(FunctionalBase, least={"decks": 1}):
    """A game with decks of cards."""

    decks: int = 1
    """How many decks there are."""

    @property
    def cards(self) -> int:
        """How many cards there are."""
        return DECK * self.decks


@dataclass(frozen=True)
class CardGameByKind(CardGame):
    """A game with decks of cards that are told apart by colour, suit or rank."""

    kind: str = "colors"
    """What cards are told apart by: ``colors``, ``suits`` or ``ranks``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            raise ValueError(f"expected a kind of {tuple(KINDS)}, actual: {self.kind!r}")

    @property
    def n_kinds(self) -> int:
        """How many kinds of cards there are."""
        return len(KINDS[self.kind])


class Dealt(NamedTuple):
    """Cards of which some have been dealt."""

    deck: Array
    """(cards,): their kinds, in the order in which they are dealt."""
    clock: Array
    """Steps since the reset; the card on the table is ``deck[clock]``."""

    def next_card(self) -> Dealt:
        """One card later."""
        return Dealt(self.deck, self.clock + 1)


class DealtGame(CardGame):
    """A game of cards that are dealt, and seen, one after the other."""

    kind: ClassVar[str] = "suits"

    @property
    def observation_space(self) -> Discrete:
        """The kind of the card on the table."""
        return Discrete(len(KINDS[self.kind]))

    @property
    def action_space(self) -> Discrete:
        """The kind of a card."""
        return Discrete(len(KINDS[self.kind]))

    def begin(self, key: Array) -> Dealt:
        """Shuffles, and deals the first card."""
        return Dealt(shuffled(key, self.decks, self.kind), zero())

    def observe(self, state: Dealt) -> Array:
        """The card on the table."""
        return state.deck[state.clock]
