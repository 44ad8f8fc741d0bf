"""Pictures of finite tasks and of the memory beside them, drawn with numpy alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.finite import FiniteTask, Floats, Ints, Picture
from adastack.tasks.font import HEIGHT, WIDTH, lettering

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]

COLOURS: dict[str, Colour] = {
    "grey": (0xC8, 0xC8, 0xC8),
    "blue": (0x80, 0x80, 0xFF),
    "red": (0xFF, 0x80, 0x80),
    "green": (0x80, 0xFF, 0x80),
}
"""The colours of observations that are colours."""

PALETTE: tuple[Colour, ...] = (
    (0xE6, 0x9F, 0x00),
    (0x56, 0xB4, 0xE9),
    (0x00, 0x9E, 0x73),
    (0xF0, 0xE4, 0x42),
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0xCC, 0x79, 0xA7),
)
"""The colours of other observations, in turn; colour-blind readers can tell them apart."""

PAPER: Colour = (0xFB, 0xFB, 0xF8)
INK: Colour = (0x20, 0x20, 0x20)
FAINT: Colour = (0x90, 0x90, 0x90)
EVICTED: Colour = (0xC0, 0x20, 0x20)

CELL = 48
GAP = 3
MARGIN = 18
WINDOW = (9, 13)
SLOT_GAP = 20
SLOTS_PER_ROW = 12


def draw(
    task: FiniteTask,
    state: int,
    slots: Sequence[int] | None = None,
    ages: Sequence[int] | None = None,
    evicted_slot: int | None = None,
) -> Image:
    """Draws the task in one hidden state and, if there are slots, the memory below it.

    Long mazes are cropped to a window around the agent. A task without a picture shows its current
    observation.

    Args:
        task: The task.
        state: The hidden state.
        slots: The observation in each slot, oldest first; ``task.empty`` for none.
        ages: Steps since each slot's observation came.
        evicted_slot: The slot that was just given up; a cross marks where it stood.
    """
    top = _draw_sign(task, state) if task.picture is None else _draw_maze(task, task.picture, state)
    if slots is None:
        return top
    bottom = _draw_memory(task, slots, ages, evicted_slot)
    width = max(top.shape[1], bottom.shape[1])
    return np.concatenate([_widened(top, width), _widened(bottom, width)])


def is_place(name: str) -> bool:
    """Whether an observation is only a place, named ``row,column``."""
    return re.fullmatch(r"\d+,\d+", name) is not None


def colour_of(task: FiniteTask, symbol: int) -> Colour:
    """The colour of an observation: its own, the floor's for a place, or one of the palette."""
    name = task.observation_names[symbol]
    if name in COLOURS:
        return COLOURS[name]
    if is_place(name):
        return COLOURS["grey"]
    others = [n for n in task.observation_names[:symbol] if n not in COLOURS and not is_place(n)]
    return PALETTE[len(others) % len(PALETTE)]


def maze_cells(task: FiniteTask, picture: Picture, state: int) -> Ints:
    """What each cell shows in a state: the background, the cues, what the agent stands on."""
    cells = picture.background.copy()
    for symbol, (row, column) in zip(task.cue[state], picture.cue_cells[state], strict=True):
        if symbol >= 0 and row >= 0 and column >= 0:
            cells[row, column] = symbol
    row, column = picture.agent[state]
    cells[row, column] = task.observation[state]
    return cells


def window(picture: Picture, state: int) -> tuple[slice, slice]:
    """The rows and columns around the agent that are shown."""
    return tuple(  # type: ignore[return-value]
        slice(first := max(0, min(int(at) - size // 2, length - size)), first + size)
        for at, size, length in zip(
            picture.agent[state], WINDOW, picture.background.shape, strict=True
        )
    )


def _draw_maze(task: FiniteTask, picture: Picture, state: int) -> Image:
    rows, columns = window(picture, state)
    cells = maze_cells(task, picture, state)
    shown = cells[rows, columns]
    image = _blank(shown.shape[0] * CELL + 2 * MARGIN, shown.shape[1] * CELL + 2 * MARGIN)
    for row, column in np.argwhere(shown >= 0):
        name = task.observation_names[shown[row, column]]
        caption = "" if is_place(name) else name
        _draw_tile(
            image,
            MARGIN + row * CELL,
            MARGIN + column * CELL,
            colour_of(task, shown[row, column]),
            caption,
        )
    _draw_continuation(image, cells, rows, columns)
    row, column = picture.agent[state] - (rows.start, columns.start)
    middle = MARGIN + CELL // 2
    _draw_disc(image, middle + int(row) * CELL, middle + int(column) * CELL, CELL * 0.27)
    return image


def _draw_continuation(image: Image, cells: Ints, rows: slice, columns: slice) -> None:
    """Three dots at each side where the maze goes on outside the window."""
    for outside, edge in ((columns.start - 1, 0), (columns.stop, image.shape[1] - MARGIN)):
        if not 0 <= outside < cells.shape[1]:
            continue
        for row in np.flatnonzero(cells[rows, outside] >= 0):
            for dot in (3, 8, 13):
                _draw_disc(image, MARGIN + int(row) * CELL + CELL // 2, edge + dot, 1.6, FAINT)


def _draw_sign(task: FiniteTask, state: int) -> Image:
    """The current observation's name and colour, for tasks that have no map."""
    name = task.observation_names[task.observation[state]]
    widest = max(len(other) for other in task.observation_names)
    image = _blank(CELL + 2 * MARGIN, CELL + widest * (WIDTH + 1) * 2 + 3 * MARGIN)
    _draw_tile(image, MARGIN, MARGIN, colour_of(task, task.observation[state]), "")
    _write(image, MARGIN + (CELL - 2 * HEIGHT) // 2, CELL + 2 * MARGIN, name, INK, 2)
    return image


def _draw_memory(
    task: FiniteTask,
    slots: Sequence[int],
    ages: Sequence[int] | None,
    evicted_slot: int | None,
) -> Image:
    n_rows = -(-len(slots) // SLOTS_PER_ROW)
    per_row = min(len(slots), SLOTS_PER_ROW)
    pitch, row_height = CELL + SLOT_GAP, CELL + 2 * HEIGHT + 18
    title = 2 * HEIGHT + 12
    image = _blank(title + n_rows * row_height + 6, 2 * MARGIN + per_row * pitch - SLOT_GAP)
    image = _widened(image, max(image.shape[1], 2 * MARGIN + 6 * 2 * (WIDTH + 1)))
    _write(image, 0, MARGIN, "memory", FAINT, 2)
    for slot, symbol in enumerate(slots):
        row, place = divmod(slot, SLOTS_PER_ROW)
        top, left = title + row * row_height, MARGIN + place * pitch
        if symbol == task.empty:
            _draw_empty(image, top, left)
        else:
            name = task.observation_names[symbol]
            current = slot == len(slots) - 1
            _draw_tile(image, top, left, colour_of(task, symbol), name, bold=current)
        if ages is not None and ages[slot] >= 0:
            _write_centred(image, top + CELL + 4, left + CELL // 2, str(ages[slot]), INK, 2)
        if slot == evicted_slot:
            _draw_cross(image, top + CELL // 2, left - SLOT_GAP // 2)
    return image


def _draw_tile(
    image: Image, top: int, left: int, colour: Colour, caption: str, bold: bool = False
) -> None:
    """A cell with soft corners, a darker border and, unless it is a colour, its name."""
    image[top : top + CELL, left : left + CELL] = _blank_tile(colour, bold)
    lines = [] if caption in COLOURS else _lines(caption)
    ink = INK if sum(colour) > 300 else PAPER
    for place, line in enumerate(lines):
        height = (len(lines) * (HEIGHT + 3)) - 3
        y = top + (CELL - height) // 2 + place * (HEIGHT + 3)
        _write_centred(image, y, left + CELL // 2, line, ink, 1)


@cache
def _blank_tile(colour: Colour, bold: bool) -> Image:
    tile = _blank(CELL, CELL)
    _blend(tile, _rounded(CELL, GAP / 2), INK if bold else _darker(colour))
    _blend(tile, _rounded(CELL, GAP / 2 + (3 if bold else 1.2)), colour)
    return tile


def _draw_empty(image: Image, top: int, left: int) -> None:
    """An outline with hatching."""
    area = image[top : top + CELL, left : left + CELL]
    rows, columns = np.indices((CELL, CELL))
    hatching = ((rows + columns) % 8 < 1) * _rounded(CELL, GAP / 2)
    _blend(area, hatching * 0.6, FAINT)
    _blend(area, _rounded(CELL, GAP / 2) - _rounded(CELL, GAP / 2 + 1.2), FAINT)


def _draw_disc(image: Image, y: int, x: int, radius: float, colour: Colour = INK) -> None:
    reach = int(radius) + 2
    rows, columns = np.indices((2 * reach, 2 * reach)) - reach + 0.5
    alpha = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    _blend(image[y - reach : y + reach, x - reach : x + reach], alpha, colour)


def _draw_cross(image: Image, y: int, x: int) -> None:
    reach = 6
    rows, columns = np.indices((2 * reach, 2 * reach)) - reach + 0.5
    stroke = np.minimum(np.abs(rows - columns), np.abs(rows + columns)) / np.sqrt(2)
    _blend(image[y - reach : y + reach, x - reach : x + reach], np.clip(2 - stroke, 0, 1), EVICTED)


def _lines(name: str) -> list[str]:
    """A name as at most three short lines that fit on a tile."""
    longest = (CELL - 6) // (WIDTH + 1)
    return [word[:longest] for word in re.split(r"[\s_-]+", name) if word][:3]


def _write(image: Image, y: int, x: int, text: str, colour: Colour, scale: int) -> None:
    pixels = lettering(text, scale)
    _blend(image[y : y + pixels.shape[0], x : x + pixels.shape[1]], pixels, colour)


def _write_centred(image: Image, y: int, x: int, text: str, colour: Colour, scale: int) -> None:
    _write(image, y, x - lettering(text, scale).shape[1] // 2, text, colour, scale)


def _blank(height: int, width: int) -> Image:
    return np.full((height, width, 3), PAPER, np.uint8)


def _widened(image: Image, width: int) -> Image:
    wide = _blank(image.shape[0], width)
    wide[:, : image.shape[1]] = image
    return wide


def _blend(area: Image, alpha: Floats | NDArray[np.bool_], colour: Colour) -> None:
    """Lays a colour over part of an image, as opaque as alpha says."""
    weight = np.asarray(alpha, np.float64)[: area.shape[0], : area.shape[1], None]
    area[:] = np.round(area * (1 - weight) + np.array(colour) * weight)


def _darker(colour: Colour) -> Colour:
    red, green, blue = (int(0.78 * part) for part in colour)
    return red, green, blue


@cache
def _rounded(size: int, inset: float, radius: float = 7.0) -> Floats:
    """How much of each pixel lies in a square with round corners."""
    centre = np.abs(np.arange(size) + 0.5 - size / 2)
    outside = centre - (size / 2 - inset - radius)
    rows, columns = np.meshgrid(outside, outside, indexing="ij")
    distance = np.hypot(np.maximum(rows, 0), np.maximum(columns, 0))
    distance += np.minimum(np.maximum(rows, columns), 0) - radius
    covered: Floats = np.clip(0.5 - distance, 0, 1)
    return covered
