"""Count Recall: how often has a card of this kind been dealt?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import Step
from adastack.tasks.worlds.popgym.cards import DECK, KINDS, check_kind, checked_decks, shuffled
from adastack.tasks.worlds.popgym.drawing import TILES, Tile, draw_cards
from adastack.tasks.worlds.popgym.game import Game, right_or_wrong, start


class TwoDecks(NamedTuple):
    """What is dealt, and what is asked for."""

    values: Array
    """(cards,): kinds, in the order in which they are dealt."""
    queries: Array
    """(cards,): kinds, in the order in which they are asked for."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class CountRecall(Game):
    """POPGym's CountRecall; an observation is the card that was dealt, then the query."""

    decks: int = 1
    """Decks that are dealt to the last card."""
    kind: str = "colors"
    """What cards are told apart by: ``colors``, ``suits`` or ``ranks``."""

    def __post_init__(self) -> None:
        checked_decks(self, self.decks)
        check_kind(self.kind)

    @property
    def observation_space(self) -> MultiDiscrete:
        """The kind that was dealt, and the kind that is asked for."""
        return MultiDiscrete([len(KINDS[self.kind])] * 2)

    @property
    def action_space(self) -> Discrete:
        """How often; at most as often as the kind is in the decks."""
        return Discrete(DECK * self.decks // len(KINDS[self.kind]) + 1)

    def reset(self, key: Array) -> tuple[TwoDecks, Array]:
        """Shuffles both, and deals the first cards."""
        values, queries = (shuffled(each, self.decks, self.kind) for each in jax.random.split(key))
        state = TwoDecks(values, queries, start())
        return state, self.observe(state)

    def step(self, key: Array, state: TwoDecks, action: Array) -> Step:
        """Takes an answer, and deals a card and a query."""
        after = state._replace(clock=state.clock + 1)
        last = DECK * self.decks - 1
        reward = right_or_wrong(action == self.count(state), 1 / last)
        return self.stepped(after, reward, terminated=after.clock >= last)

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
