"""The 2x2x2 cube of which the agent sees one face at a time.

The cube is held in front of the camera: ``front`` is what the camera sees, and a camera turn brings
another face there. Turns are named as the camera sees the cube.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from jax import Array

from adastack.tasks.checks import checked_integer
from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional import index_below
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.cube.depth import MAX_DEPTH, POSITION_TABLES, frames, positions
from adastack.tasks.worlds.cube.drawing import draw
from adastack.tasks.worlds.cube.moves import ACTIONS, FACES, PLACES, TURNS, face, moves, solved

VIEWS: dict[str, tuple[str, ...]] = {
    "face": ("front",),
    "orthographic": ("front", "up", "right"),
    "full": FACES,
}
"""The faces that each view shows."""


class CubeState(NamedTuple):
    """The hidden state of a cube."""

    stickers: Array
    """(24,): the colour at each place."""
    clock: Array
    """Steps since the reset."""


@dataclass(frozen=True)
class Cube(FunctionalBase, least={"time_limit": 1}):
    """A scrambled 2x2x2 cube; solving it pays 1 and ends the episode.

    Example:
        >>> import jax
        >>> from adastack.tasks.worlds.cube.functional import Cube
        >>> cube = Cube(view="full", depth=2)
        >>> state, observation = cube.reset(jax.random.key(0))
        >>> observation.shape, bool(is_solved(state.stickers))
        ((24,), False)
    """

    view: str = "face"
    """What is seen: ``face`` (4 stickers), ``orthographic`` (12) or ``full`` (24)."""
    depth: int = 3
    """Quarter turns that the shortest solution of a scramble has."""
    random_depth: bool = False
    """Draw the depth of each scramble from 1..depth."""
    time_limit: int = 100
    """Steps after which an episode is truncated."""

    def __post_init__(self) -> None:
        if self.view not in VIEWS:
            raise ValueError(f"expected a view of {tuple(VIEWS)}, actual: {self.view!r}")
        super().__post_init__()
        object.__setattr__(self, "depth", checked_integer("depth", self.depth, 1, MAX_DEPTH))

    @property
    def observation_space(self) -> MultiDiscrete:
        """The colours of the stickers in view, face by face."""
        return MultiDiscrete([len(FACES)] * PLACES * len(VIEWS[self.view]))

    @property
    def action_space(self) -> Discrete:
        """Twelve quarter turns and four camera turns, `ACTIONS`."""
        return Discrete(len(ACTIONS))

    def begin(self, key: Array) -> CubeState:
        """Scrambles a solved cube by quarter turns."""
        # All draws at once: the generator is most of what has to be compiled.
        draws = jax.random.uniform(key, (2 + self.depth * len(TURNS),))
        depth = jnp.asarray(self.depth, jnp.int32)
        if self.random_depth:
            depth = 1 + index_below(depth, draws[0])
        return CubeState(_scramble(draws[1:], depth, self.depth), zero())

    def act(self, key: Array, state: CubeState, action: Array) -> Outcome:
        """Turns the cube or the camera."""
        after = CubeState(state.stickers[jnp.asarray(moves())[action]], state.clock + 1)
        done = is_solved(after.stickers)
        late = ~done & (after.clock >= self.time_limit)
        return Outcome(after, done.astype(jnp.float32), done, late)

    def observe(self, state: CubeState) -> Array:
        """The stickers in view."""
        return jnp.concatenate([state.stickers[face(name)] for name in VIEWS[self.view]])

    def draw(self, state: CubeState, memory: Slots | None = None) -> Image:
        """The cube in space and unfolded, the faces in view marked, and the memory below."""
        return draw(np.asarray(state.stickers), VIEWS[self.view], memory)


def is_solved(stickers: Array) -> Array:
    """Whether every face has one colour, however the cube is held."""
    by_face = stickers.reshape(len(FACES), PLACES)
    return (by_face == by_face[:, :1]).all()


def _scramble(draws: Array, depth: Array, max_depth: int) -> Array:
    """A random cube whose shortest solution has ``depth`` quarter turns.

    A position of that depth is drawn, and a shortest way from it to solved; the cube is scrambled
    by going that way backwards.
    """
    known = positions(max_depth)
    first = jnp.asarray(known.first)
    place = first[depth] + index_below(first[depth + 1] - first[depth], draws[0])
    weights = draws[1:].reshape(max_depth, len(TURNS))
    way = _shortest_way(weights, jnp.asarray(known.ordered)[place], depth)
    inverse = np.arange(len(TURNS)).reshape(-1, 2)[:, ::-1].ravel()
    undo = jnp.asarray(moves()[inverse])

    def turn(i: Array, stickers: Array) -> Array:
        return stickers[undo[way[depth - 1 - i]]]

    scrambled: Array = jax.lax.fori_loop(0, depth, turn, jnp.asarray(solved()))
    return scrambled


def _shortest_way(weights: Array, position: Array, depth: Array) -> Array:
    """(max_depth,): ``depth`` turns that solve a position of that depth, chosen by the weights."""
    max_depth = len(weights)
    known, held = positions(max_depth), frames()
    n_twists = POSITION_TABLES[1]
    arrangements, twists = jnp.asarray(known.arrangement), jnp.asarray(known.twist)
    depths = jnp.asarray(known.depth)
    free_turn, following = jnp.asarray(held.free_turn), jnp.asarray(held.following)

    def turn(i: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        position, frame, way = carry
        free = free_turn[frame]
        reached = arrangements[position // n_twists, free] * n_twists
        reached += twists[position % n_twists, free]
        nearer = depths[reached] == depth - 1 - i
        chosen = jnp.argmax(jnp.where(nearer, weights[i], -1))
        return reached[chosen], following[frame, chosen], way.at[i].set(chosen)

    upright, no_turns = jnp.zeros((), jnp.int32), jnp.zeros(max_depth, jnp.int32)
    way: Array = jax.lax.fori_loop(0, depth, turn, (position, upright, no_turns))[2]
    return way
