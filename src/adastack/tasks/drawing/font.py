"""A 5x7 bitmap font, so that pictures need no font files."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 5, 7

# Each glyph is seven rows from the top, two hexadecimal digits a row, five bits a row.
_GLYPHS = {
    " ": "00000000000000",
    "A": "0E11111F111111",
    "B": "1E11111E11111E",
    "C": "0E11101010110E",
    "D": "1E11111111111E",
    "E": "1F10101E10101F",
    "F": "1F10101E101010",
    "G": "0E11101711110E",
    "H": "1111111F111111",
    "I": "0E04040404040E",
    "J": "0702020202120C",
    "K": "11121418141211",
    "L": "1010101010101F",
    "M": "111B1515111111",
    "N": "11191513111111",
    "O": "0E11111111110E",
    "P": "1E11111E101010",
    "Q": "0E11111115120D",
    "R": "1E11111E141211",
    "S": "0F10100E01011E",
    "T": "1F040404040404",
    "U": "1111111111110E",
    "V": "11111111110A04",
    "W": "1111111515150A",
    "X": "11110A040A1111",
    "Y": "11110A04040404",
    "Z": "1F01020408101F",
    "0": "0E11131519110E",
    "1": "040C040404040E",
    "2": "0E11010608101F",
    "3": "0E11010601110E",
    "4": "02060A121F0202",
    "5": "1F101E0101110E",
    "6": "0608101E11110E",
    "7": "1F010204080808",
    "8": "0E11110E11110E",
    "9": "0E11110F01020C",
    "-": "0000000E000000",
    "+": "0004041F040400",
    ",": "00000000040408",
    ".": "00000000000C0C",
    ":": "000C0C000C0C00",
    "_": "0000000000001F",
    "/": "01010204081010",
    "(": "02040808080402",
    ")": "08040202020408",
    "?": "0E110102040004",
}


@cache
def lettering(text: str, scale: int = 1) -> NDArray[np.bool_]:
    """The pixels of one line of text, in capitals; what the font does not know is a ``?``.

    Example:
        >>> from adastack.tasks.drawing.font import lettering
        >>> lettering("AB").shape
        (7, 11)
    """
    pixels = np.zeros((HEIGHT, max(len(text) * (WIDTH + 1) - 1, 0)), np.bool_)
    for place, character in enumerate(text.upper()):
        rows = bytes.fromhex(_GLYPHS.get(character, _GLYPHS["?"]))
        bits = np.unpackbits(np.frombuffer(rows, np.uint8)[:, None], axis=1)[:, -WIDTH:]
        left = place * (WIDTH + 1)
        pixels[:, left : left + WIDTH] = bits
    return pixels.repeat(scale, axis=0).repeat(scale, axis=1)
