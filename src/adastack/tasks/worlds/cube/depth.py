"""How far every position of the 2x2x2 cube is from solved, in quarter turns.

Up to a rotation of the whole cube, turning a face does what turning the opposite face does. So one
corner can be held still: a *position* is where the other seven corners are and how they are
twisted, and the six turns of the three faces that do not touch the still corner reach all
7! * 3^6 = 3,674,160 of them. Where the corners are and how they are twisted move independently of
each other, which keeps the tables small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.worlds.cube.moves import (
    FRAMES,
    TURNS,
    Stickers,
    Vector,
    corners,
    moves,
    normals,
    rotation,
)

MAX_DEPTH = 14
"""The most quarter turns that any position needs."""

UNKNOWN = 255
"""What the depth table says of positions that are deeper than was asked."""

STILL: Vector = (-1, -1, -1)
"""The corner that is held still: left, down, back."""

FREE_TURNS = tuple(name for name in TURNS if np.dot(FRAMES[name.rstrip("'")].normal, STILL) < 0)
"""The six turns that leave it alone."""

POSITION_TABLES = (5040, 729)
"""How many arrangements of the seven other corners there are, and how many twists."""


@dataclass(frozen=True, eq=False)
class Positions:
    """All positions up to a depth; a position is an arrangement and a twist."""

    arrangement: Stickers
    """(5040, 6): the next arrangement for each free turn."""
    twist: Stickers
    """(729, 6): the next twist for each free turn."""
    depth: NDArray[np.uint8]
    """(5040 * 729,): quarter turns from solved, by arrangement * 729 + twist."""
    ordered: Stickers
    """The positions, as such indices, by depth."""
    first: Stickers
    """(depth + 2,): where each depth begins in ``ordered``; its end comes last."""


@cache
def positions(max_depth: int = MAX_DEPTH) -> Positions:
    """Counts out every position of at most ``max_depth``, breadth first.

    Example:
        >>> from adastack.tasks.worlds.cube.depth import positions
        >>> import numpy as np
        >>> np.diff(positions(4).first).tolist()
        [1, 6, 27, 120, 534]
    """
    arrangement, twist = _tables()
    n_twists = POSITION_TABLES[1]
    depth = np.full(np.prod(POSITION_TABLES), UNKNOWN, np.uint8)
    depth[0] = 0
    shells = [np.zeros(1, np.int64)]
    for distance in range(1, max_depth + 1):
        where, turned = np.divmod(shells[-1], n_twists)
        reached = (arrangement[where] * n_twists + twist[turned]).ravel()
        depth[reached[depth[reached] == UNKNOWN]] = distance
        shells.append(np.flatnonzero(depth == distance))
    ordered = np.concatenate(shells).astype(np.int32)
    first = np.cumsum([0, *(len(shell) for shell in shells)]).astype(np.int32)
    return Positions(arrangement, twist, depth, ordered, first)


@dataclass(frozen=True, eq=False)
class Frames:
    """How the whole cube is held: what a turn means and how it changes that."""

    free_turn: Stickers
    """(24, 12): the free turn that each turn amounts to."""
    following: Stickers
    """(24, 12): how the cube is held after it."""


@cache
def frames() -> Frames:
    """The tables of all 24 ways to hold the cube; the first is upright."""
    ways = _rotations()
    free_turn = np.zeros((len(ways), len(TURNS)), np.int32)
    following = np.zeros_like(free_turn)
    for way, held in enumerate(ways):
        for index, name in enumerate(TURNS):
            quarters = -1 if name.endswith("'") else 1
            # The face in the cube's own directions; `held` is orthogonal.
            face = np.array(FRAMES[name.rstrip("'")].normal) @ held
            after = held
            if face @ STILL > 0:
                # The other layer turns against it, and then the whole cube along with it.
                after = held @ rotation(_vector(face), quarters)
                face = -face
            sense = "'" if quarters < 0 else ""
            free_turn[way, index] = FREE_TURNS.index(f"{_face_name(face)}{sense}")
            following[way, index] = _index(ways, after)
    return Frames(free_turn, following)


def _tables() -> tuple[Stickers, Stickers]:
    """What the free turns do to arrangements and to twists."""
    arrangements = np.array(list(permutations(range(7))), np.int64)
    twists = np.array(list(product(range(3), repeat=6)), np.int64)
    twists = np.column_stack([twists, -twists.sum(axis=1) % 3])
    codes = arrangements @ 7 ** np.arange(6, -1, -1)
    by_arrangement, by_twist = [], []
    for name in FREE_TURNS:
        origin, change = _corner_moves(moves()[TURNS.index(name)])
        moved = arrangements[:, origin] @ 7 ** np.arange(6, -1, -1)
        by_arrangement.append(np.searchsorted(codes, moved))
        turned = (twists[:, origin] + change) % 3
        by_twist.append(turned[:, :6] @ 3 ** np.arange(5, -1, -1))
    return np.stack(by_arrangement, 1).astype(np.int32), np.stack(by_twist, 1).astype(np.int32)


def _corner_moves(source: Stickers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each free corner: which corner its next piece comes from, and its change of twist.

    The twist is the slot that holds the sticker which looks up or down on a solved cube.
    """
    slots = _slots()
    found = np.argwhere(slots[None] == source[slots[:, 0]][:, None, None])
    return found[:, 1], -found[:, 2] % 3


def _slots() -> NDArray[np.intp]:
    """(7, 3): the stickers of each free corner, clockwise from the one that looks up or down."""
    rows = []
    for corner in product((-1, 1), repeat=3):
        if corner == STILL:
            continue
        here = np.flatnonzero((corners() == corner).all(axis=1))
        first = next(i for i in here if normals()[i][1])
        second, third = (i for i in here if i != first)
        spin = np.linalg.det([normals()[first], normals()[second], normals()[third]])
        # Seen from outside, the normals of a corner run clockwise if they form a left-hand system.
        rows.append([first, second, third] if spin < 0 else [first, third, second])
    return np.array(rows)


def _rotations() -> list[NDArray[np.int64]]:
    """The 24 rotations that a cube allows, found by turning it about two axes."""
    found = [np.eye(3, dtype=np.int64)]
    quarters = [rotation(axis, 1) for axis in ((1, 0, 0), (0, 1, 0))]
    for held in found:
        for quarter in quarters:
            if not any((quarter @ held == other).all() for other in found):
                found.append(quarter @ held)
    return found


def _index(ways: list[NDArray[np.int64]], held: NDArray[np.int64]) -> int:
    return next(i for i, way in enumerate(ways) if (way == held).all())


def _face_name(normal: NDArray[np.int64]) -> str:
    return next(name for name, frame in FRAMES.items() if frame.normal == _vector(normal))


def _vector(values: NDArray[np.int64]) -> Vector:
    x, y, z = (int(value) for value in values)
    return x, y, z
