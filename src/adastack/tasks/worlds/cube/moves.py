"""The 2x2x2 cube's stickers and what its turns do to them, derived from where they sit in space.

A sticker sits on one of eight corners (all coordinates +1 or -1) and looks along one of six axes.
Turning a face, or the whole cube, is a rotation of space; the permutation is read off from where
it takes the stickers. x points right, y up and z towards the viewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Stickers = NDArray[np.int32]
Vector = tuple[int, int, int]

FACES = ("front", "up", "right", "back", "down", "left")
"""The faces, in the order of their stickers; face i of a solved cube has colour i."""

PLACES = 4
"""Stickers of a face, row by row as seen from outside."""


@dataclass(frozen=True)
class Frame:
    """The orientation of a face: its normal, and the directions of its rows and columns."""

    normal: Vector
    right: Vector
    down: Vector


FRAMES = {
    "front": Frame((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "up": Frame((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    "right": Frame((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    "back": Frame((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
    "down": Frame((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    "left": Frame((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
}

TURNS = tuple(f"{face}{sense}" for face in FACES for sense in ("", "'"))
"""The twelve quarter turns: clockwise as seen from outside, and with ' anticlockwise."""

LOOKS = ("look left", "look right", "look up", "look down")
"""The four camera turns: the face at that side comes to the front."""

ACTIONS = TURNS + LOOKS


@cache
def corners() -> NDArray[np.int64]:
    """(24, 3): the corner each sticker sits on."""
    rows = []
    for face in FACES:
        frame = FRAMES[face]
        normal, right, down = (np.array(v) for v in (frame.normal, frame.right, frame.down))
        for place in range(PLACES):
            row, column = divmod(place, 2)
            rows.append(normal + (2 * column - 1) * right + (2 * row - 1) * down)
    return np.array(rows)


@cache
def normals() -> NDArray[np.int64]:
    """(24, 3): the normal of each sticker."""
    return np.repeat([FRAMES[face].normal for face in FACES], PLACES, axis=0)


def rotation(axis: Vector, quarters: int) -> NDArray[np.int64]:
    """The rotation by so many quarter turns, clockwise as seen from the tip of the axis."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    # A quarter turn takes what is along the axis to itself and crosses the rest with it.
    quarter = np.outer(axis, axis) - cross
    return np.linalg.matrix_power(quarter, quarters % 4)


def permutation(turn: NDArray[np.int64], moved: NDArray[np.bool_]) -> Stickers:
    """Where each place's next sticker comes from when ``turn`` takes the moved ones along."""
    names = {
        (*corner, *normal): index
        for index, (corner, normal) in enumerate(zip(corners(), normals(), strict=True))
    }
    source = np.arange(len(names), dtype=np.int32)
    for index in np.flatnonzero(moved):
        source[names[(*(turn @ corners()[index]), *(turn @ normals()[index]))]] = index
    return source


@cache
def moves() -> Stickers:
    """(16, 24): for each action, where each place's next sticker comes from."""
    return np.array([*(_turn(name) for name in TURNS), *(_look(name) for name in LOOKS)])


def solved() -> Stickers:
    """(24,): the colours of a solved cube: each face's stickers carry its number."""
    return np.repeat(np.arange(len(FACES), dtype=np.int32), PLACES)


def face(name: str) -> slice:
    """Where the stickers of a face are."""
    first = FACES.index(name) * PLACES
    return slice(first, first + PLACES)


def _turn(name: str) -> Stickers:
    normal = FRAMES[name.rstrip("'")].normal
    quarters = -1 if name.endswith("'") else 1
    return permutation(rotation(normal, quarters), corners() @ normal > 0)


def _look(name: str) -> Stickers:
    """The camera's turn, as the cube's own in the other direction."""
    side = FRAMES[name.removeprefix("look ")].normal
    front = FRAMES["front"].normal
    axis: Vector = tuple(int(v) for v in np.cross(side, front))  # type: ignore[assignment]
    return permutation(rotation(axis, -1), np.ones(len(corners()), np.bool_))
