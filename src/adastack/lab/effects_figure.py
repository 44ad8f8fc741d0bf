"""Statements with their verdicts and how far each is from its bound, as one drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure as Canvas

from adastack.lab.canvas import WIDTH, drawing_style, svg_of


@dataclass(frozen=True)
class Effects:
    """A statement, its verdict, and how far it is on the right side of its bound."""

    text: str
    status: str
    effect: tuple[float, float, float] | None
    """The value and the ends of its interval, as shares; None if there is none."""
    exact: bool = False


class Mark(NamedTuple):
    """How a verdict looks."""

    sign: str
    colour: str
    marker: str


MARKS = {
    "holds": Mark("✓", "#009E73", "o"),
    "refuted": Mark("✗", "#D55E00", "X"),
    "not shown": Mark("~", "#777777", "o"),
    "needs runs": Mark("…", "#BBBBBB", ""),
}
ROW, LEFT = 0.125, 355
"""Inches of a line; points from the axis to the beginning of a line."""
MARGIN = 5.4
"""Rows above and below the lines: the axis has a name."""


def effects(groups: Mapping[str, Sequence[Effects]]) -> str:
    """Statements with their verdicts, a line each, and how far each is from its bound.

    An interval to the right of the middle line speaks for the statement, one to the left against
    it; a square is an exact answer, which has no interval.
    """
    rows = sum(len(lines) + 1 for lines in groups.values())
    if not rows:
        return ""
    with drawing_style():
        height = rows + MARGIN
        canvas = Canvas(figsize=(WIDTH, ROW * height))
        ax = canvas.add_axes((0.7, (MARGIN - 1.4) / height, 0.28, rows / height))
        y = 0.0
        for title, lines in groups.items():
            _left(ax, y, title, weight="bold")
            y -= 1
            for line in lines:
                _left(ax, y, f"{MARKS[line.status].sign}  {line.text}")
                _effect(ax, y, line)
                y -= 1
        ax.set_xlim(-1.08, 1.08)
        ax.set_ylim(y + 0.5, 0.8)
        ax.axvline(0, color="0.3", lw=0.6, zorder=0)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_xticks([-1, 0, 1], ["against", "bound", "for it"])
        ax.set_xlabel("distance to the bound (share)")
        return svg_of(canvas)


def _left(ax: Any, y: float, text: str, **style: Any) -> None:
    ax.annotate(
        text, (-1.08, y), (-LEFT, 0), textcoords="offset points",
        fontsize=5.5, va="center", ha="left", annotation_clip=False, **style,
    )  # fmt: skip


def _effect(ax: Any, y: float, line: Effects) -> None:
    mark = MARKS[line.status]
    if line.exact:
        side = {"holds": 1, "refuted": -1}.get(line.status)
        if side is not None:
            ax.plot([side], [y], marker="s", ms=3, color=mark.colour, linestyle="none")
    elif line.effect is not None and line.status != "needs runs":
        value, low, high = (float(np.clip(each, -1, 1)) for each in line.effect)
        ax.plot([low, high], [y, y], color=mark.colour, lw=1.0, solid_capstyle="butt")
        fill = "white" if line.status == "not shown" else mark.colour
        style: Any = {"mfc": fill, "mec": mark.colour, "mew": 0.8, "linestyle": "none"}
        ax.plot([value], [y], marker=mark.marker, ms=3, **style)
