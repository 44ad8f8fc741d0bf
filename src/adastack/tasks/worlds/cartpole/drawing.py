"""Pictures of the cart and its pole, and of what a memory holds of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import FAINT, INK, MARGIN, Colour, Image, Slots

CART, POLE = canvas.SKY, canvas.VERMILION
TRACK = 2.4
"""The cart's track reaches this far to either side."""

SPEED, SPIN = 2.5, 3.0
"""The speeds of cart and pole that fill an arrow's length."""

TILE = 64


def draw(physics: NDArray[Any], shows: str, memory: Slots | None = None) -> Image:
    """The cart, its pole and its speeds; the names of what is hidden are faint."""
    image = canvas.blank(200, 440)
    x, speed, angle, spin = (float(value) for value in physics)
    speeds, positions = (INK, FAINT) if shows == "velocity" else (FAINT, INK)
    middle, ground = 220, 140
    canvas.stroke(image, (ground, middle - TRACK * 80), (ground, middle + TRACK * 80), 2, FAINT)
    for end in (-TRACK, TRACK):
        canvas.stroke(
            image, (ground - 8, middle + end * 80), (ground + 8, middle + end * 80), 3, FAINT
        )
    _cart(image, (ground, middle + x * 80), angle, 1.0)
    _arrow(image, (170, middle - 110), speed / SPEED * 70, CART)
    _arrow(image, (170, middle + 110), spin / SPIN * 70, POLE)
    canvas.write_centred(image, 182, middle - 110, "speed of the cart", speeds, 1)
    canvas.write_centred(image, 182, middle + 110, "speed of the pole", speeds, 1)
    canvas.write(image, 6, MARGIN, "position and angle", positions, 1)
    canvas.write(image, 18, MARGIN, "seen" if shows == "position" else "hidden", positions, 1)
    canvas.write_centred(image, 166, middle, "seen" if shows == "velocity" else "hidden", speeds, 1)
    return canvas.with_memory(image, memory, partial(_tile, shows))


def _tile(shows: str, pair: NDArray[Any], current: bool) -> Image:
    tile = canvas.blank(TILE, TILE)
    border = [(1.5, 1.5), (1.5, TILE - 1.5), (TILE - 1.5, TILE - 1.5), (TILE - 1.5, 1.5)]
    canvas.outline(tile, border, 3 if current else 1.2, INK if current else FAINT)
    of_cart, of_pole = (float(value) for value in pair[:2])
    if shows == "velocity":
        _arrow(tile, (TILE * 0.32, TILE / 2), of_cart / SPEED * 26, CART)
        _arrow(tile, (TILE * 0.68, TILE / 2), of_pole / SPIN * 26, POLE)
    else:
        canvas.stroke(tile, (TILE - 14, 6), (TILE - 14, TILE - 6), 1.5, FAINT)
        _cart(tile, (TILE - 14, TILE / 2 + of_cart / TRACK * 22), of_pole, 0.34)
    return tile


def _cart(image: Image, at: tuple[float, float], angle: float, scale: float) -> None:
    """A cart with its pole; ``at`` is (y, x) of the middle of its floor."""
    y, x = at
    width, height, length = 26 * scale, 22 * scale, 96 * scale
    canvas.polygon(
        image,
        [(y - height, x - width), (y - height, x + width), (y, x + width), (y, x - width)],
        CART,
    )
    top = (y - height - length * np.cos(angle), x + length * np.sin(angle))
    canvas.stroke(image, (y - height, x), top, 8 * scale, POLE)
    canvas.disc(image, round(y - height), round(x), 4 * scale)


def _arrow(image: Image, at: tuple[float, float], length: float, colour: Colour) -> None:
    """An arrow from (y, x) to the right, or to the left if the length is negative."""
    y, x = at
    length = float(np.clip(length, -80, 80))
    canvas.disc(image, round(y), round(x), 3, colour)
    canvas.stroke(image, (y, x), (y, x + length), 4, colour)
    if abs(length) > 4:
        tip, back = x + length, x + length - np.copysign(7, length)
        canvas.polygon(
            image, [(y, tip + np.copysign(4, length)), (y - 7, back), (y + 7, back)], colour
        )
