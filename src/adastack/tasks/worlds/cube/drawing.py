"""Pictures of the cube: in space, unfolded, and the views that a memory holds."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import FAINT, MARGIN, Colour, Image, Slots
from adastack.tasks.worlds.cube.moves import FRAMES, PLACES, face

COLOURS = (
    *(canvas.GREEN, canvas.WHITE, canvas.VERMILION),
    *(canvas.BLUE, canvas.YELLOW, canvas.PURPLE),
)
"""The colours of the six faces."""

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


def draw(stickers: Stickers, seen: tuple[str, ...], memory: Slots | None = None) -> Image:
    """The cube in space and unfolded, the faces in view framed, and the memory below.

    Args:
        stickers: The 24 colours.
        seen: The faces in view.
        memory: The views that are kept, each the stickers in view.
    """
    image = canvas.blank(2 * MARGIN + 190, 3 * MARGIN + 200 + 4 * 60)
    draw_in_space(image, stickers, (MARGIN + 95, MARGIN + 100), 52, seen)
    left = 2 * MARGIN + 200
    draw_net(image, stickers, (MARGIN + 5, left), 60, seen)
    canvas.write(image, MARGIN + 5, left + 2 * 60 + 12, "unfolded", FAINT, 2)
    return canvas.with_memory(image, memory, partial(_tile, seen))


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
        canvas.polygon(image, outline, BODY)
        for place, colour in enumerate(stickers[face(name)]):
            if colour != UNSEEN:
                row, column = divmod(place, 2)
                points = _project(_face_corners(name, row, column, 1, 0.07), centre, scale)
                canvas.polygon(image, points, COLOURS[colour])
    for name in VISIBLE:
        if name in seen:
            canvas.outline(
                image, _project(_face_corners(name, 0, 0, 2), centre, scale), scale / 13, MARK
            )


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
        canvas.outline(image, square + corner + np.array([row, column]) * size, size / 15, MARK)


def _tile(seen: tuple[str, ...], view: Stickers, current: bool) -> Image:
    """A kept view; hidden faces stay dark."""
    if len(seen) == 1:
        tile = canvas.blank(48, 48)
        _flat_face(tile, view, 0, 0, 48)
    else:
        tile = canvas.blank(72, 72)
        stickers = np.full(len(FRAMES) * PLACES, UNSEEN)
        for place, name in enumerate(seen):
            stickers[face(name)] = view[place * PLACES : (place + 1) * PLACES]
        if len(seen) == len(FRAMES):
            draw_net(tile, stickers, (10.5, 2), 17)
        else:
            draw_in_space(tile, stickers, (35, 36), 20)
    if current:
        size = len(tile)
        canvas.outline(tile, [(1, 1), (1, size - 1), (size - 1, size - 1), (size - 1, 1)], 3)
    return tile


def _flat_face(image: Image, colours: Stickers, top: float, left: float, size: float) -> None:
    canvas.polygon(image, _square(top, left, size, 0.01 * size), BODY)
    for place, colour in enumerate(colours):
        row, column = divmod(place, 2)
        half = size / 2
        points = _square(top + row * half, left + column * half, half, 0.07 * half)
        canvas.polygon(image, points, COLOURS[colour])


def _square(top: float, left: float, size: float, inset: float) -> Points:
    low, high = inset, size - inset
    corners = np.array([[low, low], [low, high], [high, high], [high, low]])
    square: Points = corners + np.array([top, left])
    return square


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
