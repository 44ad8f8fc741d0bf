"""Drawing with numpy alone: paper, shapes, letters, and the row of a memory's slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.drawing.font import HEIGHT, WIDTH, lettering

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]
Floats = NDArray[np.float64]

PAPER: Colour = (0xFB, 0xFB, 0xF8)
INK: Colour = (0x20, 0x20, 0x20)
FAINT: Colour = (0x90, 0x90, 0x90)
EVICTED: Colour = (0xC0, 0x20, 0x20)
WHITE: Colour = (0xFF, 0xFF, 0xFF)
PALETTE = (
    (0xE6, 0x9F, 0x00),
    (0x56, 0xB4, 0xE9),
    (0x00, 0x9E, 0x73),
    (0xF0, 0xE4, 0x42),
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0xCC, 0x79, 0xA7),
)
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""
ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = PALETTE

MARGIN = 18
SLOT_GAP = 20
SLOTS_PER_ROW = 12
INSET = 1.5
"""Between the edge of a tile and its border."""


class Slots(NamedTuple):
    """A memory to be drawn."""

    observations: Sequence[Any] | NDArray[Any]
    """The observation in each slot, oldest first."""
    ages: Sequence[int] | None = None
    """Steps since each came; a slot with a negative age is empty."""
    evicted: int | None = None
    """The slot that was just evicted; None or -1 if none was."""


def blank(height: int, width: int) -> Image:
    """An empty sheet of paper."""
    return np.full((height, width, 3), PAPER, np.uint8)


def widened(image: Image, width: int) -> Image:
    """The image with paper at its right, so that it is this wide."""
    wide = blank(image.shape[0], width)
    wide[:, : image.shape[1]] = image
    return wide


def blend(area: Image, alpha: Floats | NDArray[np.bool_], colour: Colour) -> None:
    """Lays a colour over part of an image, as opaque as alpha says."""
    weight = np.asarray(alpha, np.float64)[: area.shape[0], : area.shape[1], None]
    area[:] = np.round(area * (1 - weight) + np.array(colour) * weight)


def darker(colour: Colour) -> Colour:
    """The colour of a border around this one."""
    red, green, blue = (int(0.78 * part) for part in colour)
    return red, green, blue


@cache
def rounded(size: int, inset: float, radius: float = 7.0) -> Floats:
    """How much of each pixel lies in a square with round corners."""
    centre = np.abs(np.arange(size) + 0.5 - size / 2)
    outside = centre - (size / 2 - inset - radius)
    rows, columns = np.meshgrid(outside, outside, indexing="ij")
    distance = np.hypot(np.maximum(rows, 0), np.maximum(columns, 0))
    distance += np.minimum(np.maximum(rows, columns), 0) - radius
    covered: Floats = np.clip(0.5 - distance, 0, 1)
    return covered


def disc(image: Image, y: int, x: int, radius: float, colour: Colour = INK) -> None:
    """A disc around a point."""
    reach = int(radius) + 2
    rows, columns = np.indices((2 * reach, 2 * reach)) - reach + 0.5
    alpha = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    blend(image[y - reach : y + reach, x - reach : x + reach], alpha, colour)


def cross(image: Image, y: int, x: int) -> None:
    """The mark of what was evicted."""
    reach = 6
    rows, columns = np.indices((2 * reach, 2 * reach)) - reach + 0.5
    stroke = np.minimum(np.abs(rows - columns), np.abs(rows + columns)) / np.sqrt(2)
    blend(image[y - reach : y + reach, x - reach : x + reach], np.clip(2 - stroke, 0, 1), EVICTED)


def write(image: Image, y: int, x: int, text: str, colour: Colour, scale: int) -> None:
    """Writes a line that begins at a point."""
    pixels = lettering(text, scale)
    blend(image[y : y + pixels.shape[0], x : x + pixels.shape[1]], pixels, colour)


def write_centred(image: Image, y: int, x: int, text: str, colour: Colour, scale: int) -> None:
    """Writes a line around a column."""
    write(image, y, x - lettering(text, scale).shape[1] // 2, text, colour, scale)


def polygon(image: Image, points: ArrayLike, colour: Colour, opacity: float = 1.0) -> None:
    """Fills a convex polygon; points are (y, x), in either sense of rotation."""
    corners = np.asarray(points, np.float64)
    low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 2, image.shape[:2])
    if (high <= low).any():
        return
    pixels = np.moveaxis(np.indices(tuple(high - low)), 0, -1) + low + 0.5
    along = np.roll(corners, -1, axis=0) - corners
    across = np.stack([along[:, 1], -along[:, 0]], axis=1)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    across *= np.sign(((corners.mean(axis=0) - corners) * across).sum())
    inside = ((pixels[..., None, :] - corners) * across).sum(axis=-1).min(axis=-1)
    area = image[low[0] : high[0], low[1] : high[1]]
    blend(area, np.clip(inside + 0.5, 0, 1) * opacity, colour)


def stroke(
    image: Image, begin: ArrayLike, end: ArrayLike, width: float, colour: Colour = INK
) -> None:
    """A straight line with round ends; its ends are (y, x)."""
    first, last = np.asarray(begin, np.float64), np.asarray(end, np.float64)
    reach = width / 2 + 1
    low = np.maximum(np.floor(np.minimum(first, last) - reach).astype(int), 0)
    high = np.minimum(np.ceil(np.maximum(first, last) + reach).astype(int), image.shape[:2])
    if (high <= low).any():
        return
    pixels = np.moveaxis(np.indices(tuple(high - low)), 0, -1) + low + 0.5
    along = last - first
    share = np.clip(((pixels - first) @ along) / max(along @ along, 1e-9), 0, 1)
    distance = np.linalg.norm(pixels - first - share[..., None] * along, axis=-1)
    area = image[low[0] : high[0], low[1] : high[1]]
    blend(area, np.clip(width / 2 + 0.5 - distance, 0, 1), colour)


def outline(image: Image, points: ArrayLike, width: float, colour: Colour = INK) -> None:
    """The edges of a polygon; points are (y, x)."""
    corners = np.asarray(points, np.float64)
    for begin, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        stroke(image, begin, end, width, colour)


def with_memory(
    picture: Image, memory: Slots | None, tile: Callable[[Any, bool], Image | None]
) -> Image:
    """A picture with the memory below it, if there is one.

    Args:
        picture: What stands above.
        memory: The slots.
        tile: Draws one observation as a square, all of one size, or returns None if it stands for
            an empty slot; the second argument says whether it is the current one.
    """
    if memory is None:
        return picture
    known = [0] * len(memory.observations) if memory.ages is None else memory.ages
    tiles = [
        None if age < 0 else tile(observation, slot == len(known) - 1)
        for slot, (observation, age) in enumerate(zip(memory.observations, known, strict=True))
    ]
    row = _memory_row(tiles, memory.ages, memory.evicted)
    width = max(picture.shape[1], row.shape[1])
    return np.concatenate([widened(picture, width), widened(row, width)])


def _memory_row(
    tiles: Sequence[Image | None], ages: Sequence[int] | None, evicted: int | None
) -> Image:
    """The slots, oldest first, in rows, each with its age; a cross before the evicted one."""
    size = next((len(tile) for tile in tiles if tile is not None), 0)
    n_rows = -(-len(tiles) // SLOTS_PER_ROW)
    per_row = min(len(tiles), SLOTS_PER_ROW)
    pitch, row_height = size + SLOT_GAP, size + 2 * HEIGHT + 18
    title = 2 * HEIGHT + 12
    image = blank(title + n_rows * row_height + 6, 2 * MARGIN + per_row * pitch - SLOT_GAP)
    image = widened(image, max(image.shape[1], 2 * MARGIN + 6 * 2 * (WIDTH + 1)))
    write(image, 0, MARGIN, "memory", FAINT, 2)
    for slot, tile in enumerate(tiles):
        row, place = divmod(slot, SLOTS_PER_ROW)
        top, left = title + row * row_height, MARGIN + place * pitch
        area = image[top : top + size, left : left + size]
        if tile is None:
            _hatch(area)
        else:
            area[:] = tile
        if ages is not None and ages[slot] >= 0:
            write_centred(image, top + size + 4, left + size // 2, str(ages[slot]), INK, 2)
        if slot == evicted:
            cross(image, top + size // 2, left - SLOT_GAP // 2)
    return image


def _hatch(area: Image) -> None:
    """An outline with hatching: nothing is here."""
    size = len(area)
    rows, columns = np.indices((size, size))
    hatching = ((rows + columns) % 8 < 1) * rounded(size, INSET)
    blend(area, hatching * 0.6, FAINT)
    blend(area, rounded(size, INSET) - rounded(size, INSET + 1.2), FAINT)
