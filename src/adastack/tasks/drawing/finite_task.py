"""Pictures of finite tasks and of the memory beside them, drawn with numpy alone."""

from __future__ import annotations

import re
from functools import cache, partial

import numpy as np

from adastack.tasks.drawing.canvas import (
    FAINT,
    INK,
    INSET,
    MARGIN,
    PALETTE,
    PAPER,
    Colour,
    Image,
    Slots,
    blank,
    blend,
    darker,
    disc,
    rounded,
    with_memory,
    write,
    write_centred,
)
from adastack.tasks.drawing.font import HEIGHT, WIDTH
from adastack.tasks.finite import FiniteTask, Ints, Picture

COLOURS: dict[str, Colour] = {
    "grey": (0xC8, 0xC8, 0xC8),
    "blue": (0x80, 0x80, 0xFF),
    "red": (0xFF, 0x80, 0x80),
    "green": (0x80, 0xFF, 0x80),
}
"""The colours of observations that are colours."""

CELL = 48
WINDOW = (9, 13)


def draw(task: FiniteTask, state: int, memory: Slots | None = None) -> Image:
    """Draws the task in one hidden state and, if there is one, the memory below it.

    Long mazes are cropped to a window around the agent. A task without a picture shows its current
    observation. In the memory ``task.empty`` stands for an empty slot.
    """
    top = _draw_sign(task, state) if task.picture is None else _draw_maze(task, task.picture, state)
    return with_memory(top, memory, partial(_slot_tile, task))


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


def window(picture: Picture, state: int, size: tuple[int, int] = WINDOW) -> tuple[slice, slice]:
    """The rows and columns around the agent that are shown."""
    return tuple(  # type: ignore[return-value]
        slice(first := max(0, min(int(at) - cells // 2, length - cells)), first + cells)
        for at, cells, length in zip(
            picture.agent[state], size, picture.background.shape, strict=True
        )
    )


def _draw_maze(task: FiniteTask, picture: Picture, state: int) -> Image:
    rows, columns = window(picture, state)
    cells = maze_cells(task, picture, state)
    shown = cells[rows, columns]
    image = blank(shown.shape[0] * CELL + 2 * MARGIN, shown.shape[1] * CELL + 2 * MARGIN)
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
    disc(image, middle + int(row) * CELL, middle + int(column) * CELL, CELL * 0.27)
    return image


def _draw_continuation(image: Image, cells: Ints, rows: slice, columns: slice) -> None:
    """Three dots at each side where the maze goes on outside the window."""
    for outside, edge in ((columns.start - 1, 0), (columns.stop, image.shape[1] - MARGIN)):
        if not 0 <= outside < cells.shape[1]:
            continue
        for row in np.flatnonzero(cells[rows, outside] >= 0):
            for dot in (3, 8, 13):
                disc(image, MARGIN + int(row) * CELL + CELL // 2, edge + dot, 1.6, FAINT)


def _draw_sign(task: FiniteTask, state: int) -> Image:
    """The current observation's name and colour, for tasks that have no map."""
    name = task.observation_names[task.observation[state]]
    widest = max(len(other) for other in task.observation_names)
    image = blank(CELL + 2 * MARGIN, CELL + widest * (WIDTH + 1) * 2 + 3 * MARGIN)
    _draw_tile(image, MARGIN, MARGIN, colour_of(task, task.observation[state]), "")
    write(image, MARGIN + (CELL - 2 * HEIGHT) // 2, CELL + 2 * MARGIN, name, INK, 2)
    return image


def _slot_tile(task: FiniteTask, symbol: int, current: bool) -> Image | None:
    if symbol == task.empty:
        return None
    tile = blank(CELL, CELL)
    name = task.observation_names[symbol]
    _draw_tile(tile, 0, 0, colour_of(task, symbol), name, bold=current)
    return tile


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
        write_centred(image, y, left + CELL // 2, line, ink, 1)


@cache
def _blank_tile(colour: Colour, bold: bool) -> Image:
    tile = blank(CELL, CELL)
    blend(tile, rounded(CELL, INSET), INK if bold else darker(colour))
    blend(tile, rounded(CELL, INSET + (3 if bold else 1.2)), colour)
    return tile


def _lines(name: str) -> list[str]:
    """A name as at most three short lines that fit on a tile."""
    longest = (CELL - 6) // (WIDTH + 1)
    return [word[:longest] for word in re.split(r"[\s_-]+", name) if word][:3]
