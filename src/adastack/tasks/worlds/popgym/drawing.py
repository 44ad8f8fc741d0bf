"""Pictures of cards and boards, and of what a memory holds of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import FAINT, INK, MARGIN, WHITE, Colour, Image, Slots
from adastack.tasks.drawing.font import HEIGHT, WIDTH
from adastack.tasks.worlds.popgym.cards import RANKS, SUITS

CARD, CELL, SMALL = 72, 26, 8
"""The widths of a card, of a cell of a board, and of a cell of a board that is kept."""
PADDING_OF_BOARD = 3

CLOTH: Colour = (0xD8, 0xDC, 0xE0)
SUIT_COLOURS = (INK, canvas.VERMILION, canvas.GREEN, canvas.PURPLE)


class Tile(NamedTuple):
    """A coloured square with a word on it."""

    text: str = ""
    colour: Colour = WHITE
    ink: Colour = INK


Board = Sequence[Sequence[Tile]]
HIDDEN = Tile("", CLOTH)
"""What is face down."""


def suit(card: Any, faint: bool = False) -> Tile:
    """A card as its suit."""
    if faint:
        return Tile(SUITS[int(card)], CLOTH, FAINT)
    return Tile(SUITS[int(card)], SUIT_COLOURS[int(card)], WHITE)


def rank(card: Any) -> Tile:
    """A card as its rank."""
    return Tile(RANKS[int(card)])


def colour(card: Any) -> Tile:
    """A card as its colour."""
    return Tile("R", canvas.VERMILION, WHITE) if int(card) else Tile("B", INK, WHITE)


TILES: dict[str, Callable[[Any], Tile]] = {"suits": suit, "ranks": rank, "colors": colour}
"""How a card looks that is told apart by this."""


def draw_cards(
    cards: Mapping[str, Tile], memory: Slots | None, kept: Callable[[Any], Tile]
) -> Image:
    """Cards side by side with their names above, and the memory below.

    Args:
        cards: The cards by their names.
        memory: The observations that are kept.
        kept: How one of these looks.
    """
    pitch = CARD + 2 * MARGIN
    image = canvas.blank(CARD + 3 * MARGIN + 2 * HEIGHT, MARGIN + max(len(cards), 3) * pitch)
    for place, (name, tile) in enumerate(cards.items()):
        left = MARGIN + place * pitch
        canvas.write(image, MARGIN, left, name, FAINT, 2)
        top = 2 * MARGIN + HEIGHT
        _card(image[top : top + CARD, left : left + CARD], tile)
    return canvas.with_memory(image, memory, lambda seen, current: _kept(kept(seen), current))


def draw_board(
    board: Board,
    memory: Slots | None,
    kept: Callable[[Any], Any],
    disc: tuple[int, int] | None = None,
) -> Image:
    """A board of squares, and the memory below.

    Args:
        board: The squares, row by row.
        memory: The observations that are kept.
        kept: How one of these looks: a tile, or a board.
        disc: Row and column of a player.
    """
    width = max(len(row) for row in board)
    image = canvas.blank(2 * MARGIN + CELL * len(board), 2 * MARGIN + CELL * width)
    _squares(image[MARGIN:, MARGIN:], board, CELL)
    if disc is not None:
        y, x = (MARGIN + CELL * place + CELL // 2 for place in disc)
        canvas.disc(image, y, x, CELL * 0.3, canvas.BLUE)

    def tile(seen: Any, current: bool) -> Image:
        drawn = kept(seen)
        return _kept(drawn, current) if isinstance(drawn, Tile) else _kept_board(drawn, current)

    return canvas.with_memory(image, memory, tile)


def _kept(tile: Tile, current: bool) -> Image:
    size = CARD * 2 // 3
    image = canvas.blank(size, size)
    _card(image, tile)
    if current:
        _frame(image, 3)
    return image


def _kept_board(board: Board, current: bool) -> Image:
    cell = max(SMALL, CARD * 2 // 3 // max(len(board), len(board[0])))
    size = cell * max(len(board), len(board[0])) + 2 * PADDING_OF_BOARD
    image = canvas.blank(size, size)
    _squares(image[PADDING_OF_BOARD:, PADDING_OF_BOARD:], board, cell)
    _frame(image, 3 if current else 1)
    return image


def _card(area: Image, tile: Tile) -> None:
    size = len(area)
    canvas.blend(area, canvas.rounded(size, canvas.INSET), canvas.darker(tile.colour))
    canvas.blend(area, canvas.rounded(size, canvas.INSET + 1.5), tile.colour)
    _word(area, tile, 3)


def _squares(area: Image, board: Board, size: int) -> None:
    for row, tiles in enumerate(board):
        for column, tile in enumerate(tiles):
            top, left = row * size, column * size
            square = area[top : top + size - 1, left : left + size - 1]
            square[:] = tile.colour
            if size >= 2 * HEIGHT:
                _word(square, tile, 2)


def _word(area: Image, tile: Tile, scale: int) -> None:
    while scale > 1 and len(tile.text) * (WIDTH + 1) * scale > area.shape[1]:
        scale -= 1
    top = (len(area) - HEIGHT * scale) // 2
    canvas.write_centred(area, top, area.shape[1] // 2, tile.text, tile.ink, scale)


def _frame(image: Image, width: float) -> None:
    size = len(image)
    canvas.outline(image, [(1, 1), (1, size - 1), (size - 1, size - 1), (size - 1, 1)], width)
