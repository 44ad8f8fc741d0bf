"""Observations as bars or small images, for environments that do not draw their memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from adastack.tasks.drawing.canvas import (
    BLUE,
    FAINT,
    INK,
    MARGIN,
    PAPER,
    VERMILION,
    Image,
    blank,
)

SMALL, LARGE = 72, 200
"""Sides of a slot and of what is seen now, in pixels."""
MOST_BARS = 48
"""Longer observations are shown by their first numbers."""


class Bars:
    """Draws observations of a space, each as a square.

    Symbols are one bar among many; real numbers are bars between the limits of their space, or
    between the largest ones so far; an image is shown as it is.
    """

    def __init__(self, space: Space[Any]) -> None:
        self._space = space
        try:
            flat = spaces.flatten_space(space)
        except NotImplementedError:
            flat = None
        if not isinstance(flat, spaces.Box):
            raise ValueError(f"expected an observation of numbers to draw, actual: {space}")
        most = np.maximum(np.abs(flat.low), np.abs(flat.high))[:MOST_BARS].astype(np.float64)
        self._known = np.isfinite(most) & (most < 1e9)
        self._most = np.where(self._known, most, 0.0)
        self._signed = bool((flat.low[:MOST_BARS] < 0).any())

    @property
    def legend(self) -> str:
        """What the bars of a Dict are, from left to right; nothing for other observations."""
        if not isinstance(self._space, spaces.Dict) or _has_image(self._space):
            return ""
        sizes = {name: spaces.flatdim(part) for name, part in self._space.items()}
        words = [f"{name} ({size})" if size > 1 else name for name, size in sizes.items()]
        total = sum(sizes.values())
        cut = f"; of {total} numbers the first {MOST_BARS}" if total > MOST_BARS else ""
        return f"Bars from left to right: {', '.join(words)}{cut}."

    def tile(self, observation: Any, current: bool, side: int = SMALL) -> Image:
        """An observation as a square with a border, a dark one if it is what is seen now."""
        image = np.full((side, side, 3), PAPER, np.uint8)
        inner = image[2:-2, 2:-2]
        pixels = _pixels(self._space, observation)
        if pixels is not None:
            inner[:] = _resized(pixels, side - 4)
        else:
            self._draw(inner, spaces.flatten(self._space, observation))
        for edge in (image[:2], image[-2:], image[:, :2], image[:, -2:]):
            edge[:] = INK if current else FAINT
        return image

    def picture(self, observation: Any) -> Image:
        """What is seen now, large."""
        sheet = blank(LARGE + 2 * MARGIN, LARGE + 2 * MARGIN)
        sheet[MARGIN:-MARGIN, MARGIN:-MARGIN] = self.tile(observation, True, LARGE)
        return sheet

    def _draw(self, area: Image, numbers: Any) -> None:
        values = np.nan_to_num(np.asarray(numbers, np.float64).ravel()[:MOST_BARS])
        self._most = np.where(self._known, self._most, np.maximum(self._most, np.abs(values)))
        share = values / np.maximum(self._most, 1e-9)
        side = len(area)
        base = side // 2 if self._signed else side - 1
        edges = np.linspace(1, side - 1, len(values) + 1).astype(int)
        for part, left, right in zip(share, edges[:-1], edges[1:], strict=True):
            end = round(base - part * (base - 2))
            top, bottom = min(base, end), max(base, end) + 1
            gap = 1 if right - left > 3 else 0
            area[top:bottom, left : max(right - gap, left + 1)] = BLUE if part >= 0 else VERMILION
        area[base : base + 1, 1:-1] = FAINT


def _has_image(space: Space[Any]) -> bool:
    """Whether an observation is an image, or has one as a part."""
    if isinstance(space, spaces.Dict):
        return any(_has_image(part) for part in space.values())
    shape = space.shape if isinstance(space, spaces.Box) else ()
    return len(shape) == 2 or (len(shape) == 3 and (shape[-1] in (1, 3) or shape[0] in (1, 3)))


def _pixels(space: Space[Any], observation: Any) -> NDArray[Any] | None:
    """The image in an observation, (height, width, 3) in 0..255; None if there is none."""
    if not _has_image(space):
        return None
    if isinstance(space, spaces.Dict):
        found = (_pixels(part, observation[name]) for name, part in space.items())
        return next(pixels for pixels in found if pixels is not None)
    assert isinstance(space, spaces.Box)
    pixels = np.asarray(observation, np.float64)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.shape[-1] not in (1, 3):
        pixels = np.moveaxis(pixels, 0, -1)
    # Codes, as of MiniGrid, are far below the limit of their space.
    most = max(float(np.abs(pixels).max()), 1e-9)
    limit = float(space.high.max())
    scale = limit if most > limit / 10 else most
    scaled: NDArray[Any] = np.clip(255 * pixels / scale, 0, 255)
    return np.broadcast_to(scaled, (*pixels.shape[:2], 3))


def _resized(pixels: NDArray[Any], side: int) -> NDArray[Any]:
    """The image stretched over a square, pixel by pixel."""
    rows, columns = (np.arange(side) * length // side for length in pixels.shape[:2])
    stretched: Image = pixels[rows][:, columns].astype(np.uint8)
    return stretched
