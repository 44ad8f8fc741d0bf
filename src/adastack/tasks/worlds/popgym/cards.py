"""Decks of cards, as kinds in the order in which they are dealt."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

SUITS = ("S", "D", "C", "H")
"""Spades, diamonds, clubs, hearts: POPGym's order."""
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
COLOURS = ("black", "red")
KINDS = {"suits": SUITS, "ranks": RANKS, "colors": COLOURS}
"""What cards can be told apart by."""
DECK = 52
LAST_BITS = np.uint32(15)
"""Enough for every kind."""


def shuffled(key: Array, decks: int, kind: str) -> Array:
    """(cards,): the kinds of shuffled cards; each kind comes equally often."""
    n_kinds, n_cards = len(KINDS[kind]), DECK * decks
    cards = jnp.arange(n_cards, dtype=jnp.uint32) % n_kinds
    # One sort of single words, random but for their last four bits, which say what the card is:
    # five times as fast as a permutation of many decks.
    draws = jax.random.bits(key, (n_cards,), jnp.uint32)
    return (jnp.sort((draws & ~LAST_BITS) | cards) & LAST_BITS).astype(jnp.int32)
