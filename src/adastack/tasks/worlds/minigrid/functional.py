"""MiniGrid-Memory as a functional task, for rollouts that are compiled whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from jax import Array
from numpy.typing import NDArray

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import index_below
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.minigrid.environment import (
    TILE,
    MiniGridMemoryEnv,
    check_view,
    checked_size,
    draw,
    paint,
    view_space,
)
from adastack.tasks.worlds.minigrid.tables import N_ACTIONS, memory_tables


class MemoryState(NamedTuple):
    """The hidden state of a world and its agent."""

    place: Array
    """The row of the tables."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class MiniGridMemory(FunctionalBase):
    """The package's Memory worlds, step for step, by table look-ups.

    Example:
        >>> import jax
        >>> from adastack.tasks.worlds.minigrid.functional import MiniGridMemory
        >>> task = MiniGridMemory(size=7)
        >>> state, view = task.reset(jax.random.key(0))
        >>> view.shape, task.time_limit
        ((7, 7, 3), 245)
    """

    size: int = 13
    """Cells along each side; odd."""
    random_length: bool = False
    """Draw the length of the hallway anew for each episode."""
    view: str = "symbolic"
    """What is seen: ``symbolic`` (7, 7, 3) codes or ``rgb`` (56, 56, 3) pixels."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_size(self.size))
        check_view(self.view)

    @property
    def time_limit(self) -> int:  # type: ignore[override]
        """Steps after which an episode is truncated."""
        return 5 * self.size**2

    @property
    def observation_space(self) -> Box:
        """The cells ahead, three numbers or 8 x 8 pixels each."""
        return view_space(self.view)

    @property
    def action_space(self) -> Discrete:
        """Left, right, forward, and four that do nothing here."""
        return Discrete(N_ACTIONS)

    def begin(self, key: Array) -> MemoryState:
        """Draws hallway, objects and where the agent stands in the hallway."""
        tables = memory_tables(self.size, self.random_length)
        draws = jax.random.uniform(key, (2,))
        hallway = index_below(len(tables.starts), draws[0])
        start = index_below(jnp.asarray(tables.n_starts)[hallway], draws[1])
        return MemoryState(jnp.asarray(tables.starts)[hallway, start], zero())

    def act(self, key: Array, state: MemoryState, action: Array) -> Outcome:
        """Turns the agent or moves it forward."""
        tables = memory_tables(self.size, self.random_length)
        place = jnp.asarray(tables.following)[state.place, action]
        clock = state.clock + 1
        outcome = jnp.asarray(tables.outcome)[place]
        reward = jnp.where(outcome > 0, 1 - 0.9 * (clock / self.time_limit), 0.0)
        after = MemoryState(place, clock)
        return Outcome(after, reward, terminated=outcome != 0, success=outcome > 0)

    def signals(self, state: MemoryState) -> dict[str, Array]:
        """The object of the start room, and whether it is in view."""
        tables = memory_tables(self.size, self.random_length)
        cue, shown = jnp.asarray(tables.cue), jnp.asarray(tables.shown)
        return {"shown": shown[state.place], "cue": cue[state.place][None]}

    def observe(self, state: MemoryState) -> Array:
        """What is seen from a place."""
        tables = memory_tables(self.size, self.random_length)
        views = tables.views if self.view == "symbolic" else _pixels(self.size, self.random_length)
        return jnp.asarray(views)[jnp.asarray(tables.seen)[state.place]]

    def draw(self, state: MemoryState, memory: Slots | None = None) -> Image:
        """The world from above, what is in view lit, and the memory below."""
        tables = memory_tables(self.size, self.random_length)
        key = next(k for k, place in tables.index.items() if place == int(state.place))
        env = MiniGridMemoryEnv(self.size, self.random_length)
        env.stand(*key)
        return draw(env.grid_env, memory)


@cache
def _pixels(size: int, random_length: bool) -> NDArray[np.uint8]:
    """(views, 56, 56, 3): the views as the package paints them."""
    return np.stack([paint(view, TILE) for view in memory_tables(size, random_length).views])
