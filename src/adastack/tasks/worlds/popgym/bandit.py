"""Multiarmed Bandit: find the arm that pays best, and stay with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from gymnasium.spaces import Discrete
from jax import Array

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.popgym.drawing import CLOTH, HIDDEN, Tile, draw_board
from adastack.tasks.worlds.popgym.game import right_or_wrong

PAID, LOST = Tile("+", canvas.GREEN), Tile("-", canvas.VERMILION)


class Arms(NamedTuple):
    """The arms of one episode."""

    chances: Array
    """(arms,): how likely each pays."""
    paid: Array
    """Whether the last one did."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class MultiarmedBandit(FunctionalBase, least={"arms": 1, "time_limit": 1}):
    """POPGym's MultiarmedBandit: each pull pays or costs the same."""

    arms: int = 10
    """How many there are."""
    time_limit: int = 200
    """Pulls in an episode."""

    @property
    def observation_space(self) -> Discrete:
        """Whether the last pull paid."""
        return Discrete(2)

    @property
    def action_space(self) -> Discrete:
        """An arm."""
        return Discrete(self.arms)

    def begin(self, key: Array) -> Arms:
        """Draws how likely each arm pays."""
        return Arms(jax.random.uniform(key, (self.arms,)), zero(), zero())

    def act(self, key: Array, state: Arms, action: Array) -> Outcome:
        """Pulls an arm."""
        pays = jax.random.uniform(key) < state.chances[action]
        after = Arms(state.chances, pays.astype(jnp.int32), state.clock + 1)
        return Outcome(after, right_or_wrong(pays, 1 / self.time_limit))

    def observe(self, state: Arms) -> Array:
        """Whether the last pull paid."""
        return state.paid

    def draw(self, state: Arms, memory: Slots | None = None) -> Image:
        """How likely each arm pays in per cent, what the last pull did, and the memory below."""
        arms = [Tile(str(round(100 * float(chance))), CLOTH) for chance in state.chances]
        last = HIDDEN if state.clock == 0 else PAID if state.paid else LOST
        rows = [arms[at : at + 10] for at in range(0, len(arms), 10)]
        return draw_board([[last], *rows], memory, lambda seen: PAID if seen else LOST)
