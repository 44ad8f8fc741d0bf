"""How all drawings look, and the sheet they are drawn on.

A memory has the same colour in every drawing, from a palette that colour-blind readers can tell
apart (Okabe and Ito), and a mark of its own, so that nothing hangs on colour alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

WIDTH = 7.2
"""Inches: a page's column."""
ALONE = 2.7
"""Inches: the height of a panel that has the page's width to itself."""

STYLE: Any = {
    "svg.hashsalt": "adastack",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.6,
    "path.simplify": False,
}


@dataclass(frozen=True)
class Look:
    """How a series is drawn."""

    colour: str
    hatch: str = ""
    line: str = "-"
    marker: str = "o"


LOOKS: Mapping[str, Look] = {
    "AS(κ)": Look("#0072B2"),
    "AS(k)": Look("#0072B2"),
    "AS(κ), robust": Look("#56B4E9", "///", "--"),
    "FS(κ)": Look("#E69F00", marker="s"),
    "FS(k)": Look("#E69F00", marker="s"),
    "FS(k*)": Look("#009E73", marker="^"),
    "FS(k*), robust": Look("#009E73", "///", "--", "^"),
    "Demir(κ)": Look("#CC79A7", marker="D"),
    "Demir(κ) + IM": Look("#D55E00", "\\\\\\", "-.", "v"),
    "Demir(κ), unseen": Look("#CC79A7", "...", ":", "d"),
    "Demir(κ), unseen + IM": Look("#D55E00", "...", ":", "<"),
    "AS(k), patience off": Look("#56B4E9", "///", "--"),
    "AS(k), published": Look("#0072B2", "...", ":"),
    "FS(k), published": Look("#E69F00", "...", ":", "s"),
    "FS(k*), compiled": Look("#000000", line="none", marker="x"),
    "none": Look("#999999", line=":", marker="x"),
    "FS(4)": Look("#E69F00", marker="s"),
    "FS(16)": Look("#E69F00", marker="s"),
    "AS(2)": Look("#0072B2"),
    "AS(4)": Look("#56B4E9", marker="o"),
    "push/skip(2)": Look("#CC79A7", marker="D"),
    "GRU": Look("#009E73", marker="^"),
    "LSTM": Look("#D55E00", line="--", marker="v"),
    "LRU": Look("#000000", line="-.", marker="P"),
    "AS(2)+GRU": Look("#0072B2", "///", "--", "*"),
    "Passive-TMaze": Look("#000000"),
    "Active-TMaze": Look("#999999", line="--", marker="s"),
}
"""Each memory as it looks everywhere; what is not here is drawn in black."""
OTHER = Look("#000000", marker="x")


def ordered(labels: Iterable[str]) -> list[str]:
    """Each label once, as in `LOOKS`, then the others as they came."""
    found = list(dict.fromkeys(labels))
    return [x for x in LOOKS if x in found] + [x for x in found if x not in LOOKS]


def label_axes(ax: Any, title: str, xlabel: str, ylabel: str) -> None:
    """The words around a panel; what stands on the left is said once a row."""
    ax.set_title(title)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel if ax.get_subplotspec().is_first_col() else "")


def new_canvas(count: int, columns: int, height: float) -> tuple[Canvas, list[Any]]:
    """A page's column with so many panels, and their axes."""
    columns = max(1, min(columns, count))
    rows = max(1, -(-count // columns))
    # A panel as wide as the page would be flat.
    height = max(height, ALONE) if columns == 1 else height
    canvas = Canvas(figsize=(WIDTH, height * rows + 0.3), layout="constrained")
    axes = [canvas.add_subplot(rows, columns, i + 1) for i in range(count)]
    return canvas, axes


def add_legend(canvas: Canvas, labels: Sequence[str], kind: str, marks: bool = False) -> None:
    """Says above the panels which series looks how; ``kind`` is ``"line"`` or ``"bar"``."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for label in labels:
        look = LOOKS.get(label, OTHER)
        if kind == "line":
            line: Any = look.line
            mark = look.marker if marks else ""
            handles.append(
                Line2D([], [], color=look.colour, linestyle=line, marker=mark, ms=3.5, label=label)
            )
        else:
            edge = "white" if look.hatch else look.colour
            handles.append(
                Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=edge, label=label)
            )
    if handles:
        canvas.legend(handles=handles, loc="outside upper center", ncols=6, frameon=False)


def drawing_style() -> AbstractContextManager[None]:
    """Matplotlib's settings, for as long as something is drawn."""
    return mpl.rc_context(STYLE)


def svg_of(canvas: Canvas) -> str:
    """The drawing as text, the same bit for bit every time."""
    text = io.StringIO()
    canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
