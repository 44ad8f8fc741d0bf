"""Count Recall: how often has a card of this kind been dealt?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import Outcome, zero
from adastack.tasks.worlds.popgym.cards import shuffled
from adastack.tasks.worlds.popgym.drawing import TILES, Tile, draw_cards
from adastack.tasks.worlds.popgym.game import CardGameByKind, right_or_wrong


class TwoDecks(NamedTuple):
    """What is dealt, and what is asked for."""

    values: Array
    """(cards,): kinds, in the order in which they are dealt."""
    queries: Array
    """(cards,): kinds, in the order in which they are asked for."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class CountRecall(CardGameByKind):
    """POPGym's CountRecall; an observation is the card that was dealt, then the query."""

    @property
    def observation_space(self) -> MultiDiscrete:
        """The kind that was dealt, and the kind that is asked for."""
        return MultiDiscrete([self.n_kinds] * 2)

    @property
    def action_space(self) -> Discrete:
        """How often; at most as often as the kind is in the decks."""
        return Discrete(self.cards // self.n_kinds + 1)

    def begin(self, key: Array) -> TwoDecks:
        """Shuffles both, and deals the first cards."""
        values, queries = (shuffled(each, self.decks, self.kind) for each in jax.random.split(key))
        return TwoDecks(values, queries, zero())

    def act(self, key: Array, state: TwoDecks, action: Array) -> Outcome:
        """Takes an answer, and deals a card and a query."""
        after = state._replace(clock=state.clock + 1)
        last = self.cards - 1
        reward = right_or_wrong(action == self.count(state), 1 / last)
        return Outcome(after, reward, terminated=after.clock >= last)

    def count(self, state: TwoDecks) -> Array:
        """How often the kind that is asked for has been dealt: the right answer."""
        same = state.values == state.queries[state.clock]
        return jnp.sum(same & (jnp.arange(len(state.values)) <= state.clock))

    def observe(self, state: TwoDecks) -> Array:
        """The card and the query on the table."""
        return jnp.stack([state.values[state.clock], state.queries[state.clock]])

    def draw(self, state: TwoDecks, memory: Slots | None = None) -> Image:
        """The card, the query and its answer, and the memory below."""
        tile = TILES[self.kind]
        cards = {
            "dealt": tile(state.values[state.clock]),
            "how many": tile(state.queries[state.clock]),
            "answer": Tile(str(int(self.count(state)))),
        }
        # What a slot asked for is over; what it dealt is what counts.
        return draw_cards(cards, memory, lambda seen: tile(seen[0]))
