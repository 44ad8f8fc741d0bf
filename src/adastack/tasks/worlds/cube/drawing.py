"""Pictures of the cube: in space, unfolded, and the views that a memory holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.drawing.canvas import (
    FAINT,
    INK,
    MARGIN,
    Colour,
    Image,
    blank,
    polygon,
    stroke,
    with_memory,
    write,
)
from adastack.tasks.worlds.cube.moves import FRAMES, PLACES, face

COLOURS: tuple[Colour, ...] = (
    (0x00, 0x9E, 0x73),
    (0xFF, 0xFF, 0xFF),
    (0xD5, 0x5E, 0x00),
    (0x00, 0x72, 0xB2),
    (0xF0, 0xE4, 0x42),
    (0xCC, 0x79, 0xA7),
)
"""The colours of the six faces; colour-blind readers can tell them apart."""

BODY: Colour = (0x28, 0x28, 0x28)
MARK: Colour = (0xE0, 0x1A, 0x1A)
UNSEEN = -1
"""Stands for a sticker that is not in view."""

NET = {"up": (0, 1), "left": (1, 0), "front": (1, 1), "right": (1, 2), "back": (1, 3)} | {
    "down": (2, 1)
}
"""Row and column of each face when the cube is unfolded."""

VISIBLE = ("up", "right", "front")
"""The faces that show when the cube is drawn in space."""

Points = NDArray[np.float64]
Stickers = NDArray[np.integer]


def draw(
    stickers: Stickers,
    seen: tuple[str, ...],
    slots: Stickers | None = None,
    ages: Sequence[int] | None = None,
    evicted_slot: int | None = None,
) -> Image:
    """The cube in space and unfolded, the faces in view framed, and the memory below.

    Args:
        stickers: The 24 colours.
        seen: The faces in view.
        slots: (k, stickers in view): the views that are kept, oldest first.
        ages: Steps since each slot's view; -1 for an empty slot.
        evicted_slot: The slot that was just given up.
    """
    image = blank(2 * MARGIN + 190, 3 * MARGIN + 200 + 4 * 60)
    draw_in_space(image, stickers, (MARGIN + 95, MARGIN + 100), 52, seen)
    left = 2 * MARGIN + 200
    draw_net(image, stickers, (MARGIN + 5, left), 60, seen)
    write(image, MARGIN + 5, left + 2 * 60 + 12, "unfolded", FAINT, 2)
    return with_memory(
        image, slots, ages, evicted_slot, lambda view, current: _tile(view, seen, current)
    )


def draw_in_space(
    image: Image,
    stickers: Stickers,
    centre: tuple[float, float],
    scale: float,
    seen: tuple[str, ...] = (),
) -> None:
    """The cube, seen from in front, right and above; ``centre`` is (y, x)."""
    for name in VISIBLE:
        outline = _project(_face_corners(name, 0, 0, 2), centre, scale)
        polygon(image, outline, BODY)
        for place, colour in enumerate(stickers[face(name)]):
            if colour != UNSEEN:
                row, column = divmod(place, 2)
                points = _project(_face_corners(name, row, column, 1, 0.07), centre, scale)
                polygon(image, points, COLOURS[colour])
    for name in VISIBLE:
        if name in seen:
            _frame(image, _project(_face_corners(name, 0, 0, 2), centre, scale), scale / 13)


def draw_net(
    image: Image,
    stickers: Stickers,
    corner: tuple[float, float],
    size: float,
    seen: tuple[str, ...] = (),
) -> None:
    """The cube unfolded; ``corner`` is (y, x) and ``size`` the width of a face."""
    for name, (row, column) in NET.items():
        top, left = corner[0] + row * size, corner[1] + column * size
        _flat_face(image, stickers[face(name)], top, left, size)
    for name in seen:
        row, column = NET[name]
        square = np.array([[0, 0], [0, 1], [1, 1], [1, 0]]) * size
        _frame(image, square + corner + np.array([row, column]) * size, size / 15)


def _tile(view: Stickers, seen: tuple[str, ...], bold: bool) -> Image:
    """A kept view; hidden faces stay dark."""
    if len(seen) == 1:
        tile = blank(48, 48)
        _flat_face(tile, view, 0, 0, 48)
    else:
        tile = blank(72, 72)
        stickers = np.full(len(FRAMES) * PLACES, UNSEEN)
        for place, name in enumerate(seen):
            stickers[face(name)] = view[place * PLACES : (place + 1) * PLACES]
        if len(seen) == len(FRAMES):
            draw_net(tile, stickers, (10.5, 2), 17)
        else:
            draw_in_space(tile, stickers, (35, 36), 20)
    if bold:
        size = len(tile)
        _frame(tile, np.array([[1, 1], [1, size - 1], [size - 1, size - 1], [size - 1, 1]]), 3, INK)
    return tile


def _flat_face(image: Image, colours: Stickers, top: float, left: float, size: float) -> None:
    polygon(image, _square(top, left, size, 0.01 * size), BODY)
    for place, colour in enumerate(colours):
        row, column = divmod(place, 2)
        half = size / 2
        points = _square(top + row * half, left + column * half, half, 0.07 * half)
        polygon(image, points, COLOURS[colour])


def _square(top: float, left: float, size: float, inset: float) -> Points:
    low, high = inset, size - inset
    corners = np.array([[low, low], [low, high], [high, high], [high, low]])
    square: Points = corners + np.array([top, left])
    return square


def _frame(image: Image, points: Points, width: float, colour: Colour = MARK) -> None:
    for begin, end in zip(points, np.roll(points, -1, axis=0), strict=True):
        stroke(image, begin, end, width, colour)


def _face_corners(name: str, row: int, column: int, cells: int, inset: float = 0.0) -> Points:
    """(4, 3): a square of cells on a face, in space."""
    frame = FRAMES[name]
    normal, right, down = (np.array(v, float) for v in (frame.normal, frame.right, frame.down))
    low, high = inset, cells - inset
    corners = [(low, low), (low, high), (high, high), (high, low)]
    return np.array([normal + (row + y - 1) * down + (column + x - 1) * right for y, x in corners])


def _project(points: Points, centre: tuple[float, float], scale: float) -> Points:
    """Points in space as (y, x) in the picture."""
    turn, tilt = np.deg2rad(-32), np.deg2rad(24)
    x, y, z = points.T
    x, z = x * np.cos(turn) + z * np.sin(turn), z * np.cos(turn) - x * np.sin(turn)
    y, z = y * np.cos(tilt) - z * np.sin(tilt), z * np.cos(tilt) + y * np.sin(tilt)
    away = 9 / (9 - z)
    return np.stack([centre[0] - scale * y * away, centre[1] + scale * x * away], axis=1)
