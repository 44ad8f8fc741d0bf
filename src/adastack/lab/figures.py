"""Drawings that all experiments share: bars, lines, curves and heat maps, as SVG."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from adastack.lab.canvas import (
    LOOKS,
    OTHER,
    Look,
    add_legend,
    drawing_style,
    label_axes,
    new_canvas,
    ordered,
    svg_of,
)
from adastack.lab.curves import binned
from adastack.lab.statistics import summary

Floats = NDArray[np.float64]
WHITE_TEXT_BELOW = 0.45
"""Where on the colour scale a cell is too dark for black."""
MOST_NARROW_BARS = 10
"""Bars that fit a quarter of the page; with more, panels take half of it."""
DOT = 0.0008
"""Half the length of the line that makes a dot, as a share of the axis."""
LETTERS = 80
"""How many letters of a title fit the page."""
FAR = 10
"""Numbers on an axis that span more than this factor are spaced by their logarithms."""
FLAT = 0.1
"""An axis of values that differ by less than this share begins at 0."""
SCORE_ROW = 0.3
"""Inches: the height of a row of scores."""
LEAST_FOR_BANDS = 3
"""Seeds from which on a band is drawn; the interval of two is wider than the page."""


@dataclass(frozen=True)
class Panel:
    """One set of axes with grouped values."""

    title: str
    groups: Mapping[str, Mapping[str, Floats]]
    """For each position on the axis, for each series, a value for each seed."""
    xlabel: str = ""
    ylabel: str = ""


@dataclass(frozen=True)
class Curves:
    """One set of axes with curves over training steps."""

    title: str
    step: Floats
    series: Mapping[str, Floats]
    """(seeds, points) for each series."""
    ylabel: str = ""


@dataclass(frozen=True)
class Grid:
    """A heat map."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    """(rows, columns); NaN where nothing is known."""
    xlabel: str = ""
    ylabel: str = ""
    spreads: Floats | None = None
    """Standard deviations, written below the values."""


def bars(panels: Sequence[Panel]) -> str:
    """Bars with means, one standard deviation, and every seed as a dot; "" if there are none."""
    panels = [panel for panel in panels if _anything(panel)]
    if not panels:
        return ""
    with drawing_style():
        labels = _labels(panels)
        crowded = len(labels) * max(len(panel.groups) for panel in panels) > MOST_NARROW_BARS
        canvas, axes = new_canvas(len(panels), 2 if crowded else 4, 1.9)
        for ax, panel in zip(axes, panels, strict=False):
            _bar_panel(ax, panel, labels)
        add_legend(canvas, labels, "bar")
        return svg_of(canvas)


def lines(panels: Sequence[Panel], columns: int = 3, logarithmic: bool = False) -> str:
    """Means over an axis of numbers, with one standard deviation and the 95% interval."""
    panels = [panel for panel in panels if _anything(panel)]
    if not panels:
        return ""
    with drawing_style():
        canvas, axes = new_canvas(len(panels), columns, 2.1)
        labels = _labels(panels)
        for ax, panel in zip(axes, panels, strict=False):
            _line_panel(ax, panel, labels)
            if logarithmic:
                _orders_of_magnitude(ax)
            elif _flat(panel):
                ax.set_ylim(bottom=0)
        add_legend(canvas, labels, "line", marks=True)
        return svg_of(canvas)


def curves(panels: Sequence[Curves], columns: int = 5) -> str:
    """Mean over seeds, one standard deviation (light) and its 95% interval (darker)."""
    panels = [panel for panel in panels if panel.series]
    if not panels:
        return ""
    with drawing_style():
        columns = min(columns, max(2, len(panels)))
        canvas, axes = new_canvas(len(panels), columns, 1.7)
        labels = ordered(label for panel in panels for label in panel.series)
        for ax, panel in zip(axes, panels, strict=False):
            for label, values in panel.series.items():
                step, means = binned(panel.step, values)
                _band(ax, step / _unit(panel)[0], means, LOOKS.get(label, OTHER))
            ax.xaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 5, 10)))
            title = fill(panel.title, round(LETTERS / columns))
            label_axes(ax, title, f"steps ({_unit(panel)[1]})", panel.ylabel)
        add_legend(canvas, labels, "line")
        return svg_of(canvas)


def heat_maps(grids: Sequence[Grid], columns: int = 3, limits: tuple[float, float] = (0, 1)) -> str:
    """Grids with a number in every cell."""
    if not any(np.isfinite(grid.values).any() for grid in grids):
        return ""
    with drawing_style():
        canvas, axes = new_canvas(len(grids), columns, 2.3)
        image = None
        for ax, grid in zip(axes, grids, strict=False):
            image = _heat_map(ax, grid, limits)
        if image is not None:
            canvas.colorbar(image, ax=axes, shrink=0.7, pad=0.01)
        return svg_of(canvas)


def score_map(grid: Grid) -> str:
    """A grid whose rows have units of their own: each is coloured from its least to its most."""
    low, high = (f(grid.values, axis=1, keepdims=True) for f in (np.nanmin, np.nanmax))
    shades = (grid.values - low) / np.where(high > low, high - low, 1)
    with drawing_style():
        canvas, (ax,) = new_canvas(1, 1, 0.6 + SCORE_ROW * len(grid.rows))
        _heat_map(ax, grid, (0, 1), shades)
        ax.xaxis.tick_top()
        return svg_of(canvas)


def _anything(panel: Panel) -> bool:
    return any(len(values) for group in panel.groups.values() for values in group.values())


def _flat(panel: Panel) -> bool:
    """Whether all values are about the same: an axis about them would show noise, or nothing."""
    every = np.concatenate([values for group in panel.groups.values() for values in group.values()])
    return bool(0 <= np.ptp(every) < FLAT * every.min())


def _bar_panel(ax: Any, panel: Panel, labels: Sequence[str]) -> None:
    width = 0.84 / max(len(group) for group in panel.groups.values())
    for x, group in enumerate(panel.groups.values()):
        present = [label for label in labels if label in group]
        for place, label in enumerate(present):
            if not len(group[label]):
                continue
            look, found = LOOKS.get(label, OTHER), summary(group[label])
            left = x + (place + 0.5 - len(present) / 2) * width
            ax.bar(
                left, found.mean, width * 0.94, color=look.colour, hatch=look.hatch,
                edgecolor="white" if look.hatch else look.colour, linewidth=0.4,
            )  # fmt: skip
            # Seeds lie side by side, so that equal ones can be told apart.
            spread = np.linspace(-0.3, 0.3, found.count) * width if found.count > 1 else [0.0]
            _dots(ax, left + np.asarray(spread), group[label], DOT * len(panel.groups))
            ax.errorbar(left, found.mean, found.sd, color="0.15", lw=0.7, capsize=1.5, capthick=0.7)
    ax.set_xticks(range(len(panel.groups)), list(panel.groups))
    # Runs that are missing leave their place, also at the ends.
    ax.set_xlim(-0.55, len(panel.groups) - 0.45)
    ax.axhline(0, color="0.3", lw=0.5)
    label_axes(ax, panel.title, panel.xlabel, panel.ylabel)


def _dots(ax: Any, x: Floats, y: Floats, half: float) -> None:
    """Dots as very short lines with round ends: one path for all, where marks are one each."""
    gap = np.full_like(x, np.nan)
    across = np.stack([x - half, x + half, gap], axis=1).ravel()
    up = np.stack([y, y, gap], axis=1).ravel()
    for size, colour in ((1.9, "0.15"), (1.2, "white")):
        ax.plot(across, up, color=colour, lw=size, solid_capstyle="round", snap=False)


def _line_panel(ax: Any, panel: Panel, labels: Sequence[str]) -> None:
    places = _places(ax, list(panel.groups))
    for label in labels:
        known = [(x, g[label]) for x, g in panel.groups.items() if label in g and len(g[label])]
        if not known:
            continue
        look = LOOKS.get(label, OTHER)
        at = np.array([places[x] for x, _ in known])
        found = [summary(values) for _, values in known]
        mean, sd = np.array([f.mean for f in found]), np.array([f.sd for f in found])
        ax.fill_between(at, mean - sd, mean + sd, color=look.colour, alpha=0.15, lw=0)
        line: Any = {"linestyle": look.line, "marker": look.marker, "ms": 3.5, "lw": 1.2}
        ax.plot(at, mean, color=look.colour, **line)
        half = [0 if f.count < LEAST_FOR_BANDS else f.interval.high - f.mean for f in found]
        ax.errorbar(at, mean, half, color=look.colour, fmt="none", lw=0.8, capsize=2)
    values = [v for group in panel.groups.values() for each in group.values() for v in each]
    if all(float(value).is_integer() for value in values):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    label_axes(ax, panel.title, panel.xlabel, panel.ylabel)


def _places(ax: Any, names: Sequence[str]) -> dict[str, float]:
    """Where names stand on an axis: numbers where they belong, other words side by side."""
    try:
        places = {name: float(name) for name in names}
    except ValueError:
        places = {name: float(place) for place, name in enumerate(names)}
    at = sorted(places.values())
    doubles = all(high >= 2 * low for low, high in itertools.pairwise(at))
    if at[0] > 0 and (doubles or at[-1] > FAR * at[0]):
        ax.set_xscale("log")
    ax.set_xticks(list(places.values()), names)
    ax.xaxis.set_minor_locator(NullLocator())
    return places


def _orders_of_magnitude(ax: Any) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(EngFormatter(sep=" "))
    ax.yaxis.set_minor_locator(NullLocator())


def _band(ax: Any, x: Floats, values: Floats, look: Look) -> None:
    known = np.isfinite(values).all(axis=0)
    x, values = x[known], values[:, known]
    if not len(x):
        return
    mean = values.mean(axis=0)
    if len(values) >= LEAST_FOR_BANDS:
        found = [summary(column) for column in values.T]
        sd = np.array([f.sd for f in found])
        half = np.array([f.interval.high - f.mean for f in found])
        for size, alpha in ((sd, 0.15), (half, 0.3)):
            ax.fill_between(x, mean - size, mean + size, color=look.colour, alpha=alpha, lw=0)
    ax.plot(x, mean, look.line, color=look.colour, lw=1.2)


def _unit(panel: Curves) -> tuple[float, str]:
    """What steps are counted in."""
    return (1e6, "millions") if len(panel.step) and panel.step[-1] >= 1e5 else (1e3, "thousands")


def _heat_map(
    ax: Any, grid: Grid, limits: tuple[float, float], shades: Floats | None = None
) -> Any:
    low, high = limits
    shades = grid.values if shades is None else shades
    image = ax.imshow(shades, vmin=low, vmax=high, cmap="cividis", aspect="auto")
    ax.set_xticks(range(len(grid.columns)), list(grid.columns))
    ax.set_yticks(range(len(grid.rows)), list(grid.rows))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for (row, column), value in np.ndenumerate(grid.values):
        if math.isnan(value):
            ax.text(column, row, "–", ha="center", va="center", color="0.4")
            continue
        dark = (shades[row, column] - low) / (high - low) < WHITE_TEXT_BELOW
        text = f"{value:z.2f}"
        if grid.spreads is not None:
            text += f"\n±{grid.spreads[row, column]:.2f}"
        colour = "white" if dark else "black"
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=6)
    label_axes(ax, grid.title, grid.xlabel, grid.ylabel)
    return image


def _labels(panels: Sequence[Panel]) -> list[str]:
    """The series that have a value somewhere."""
    groups = [group for panel in panels for group in panel.groups.values()]
    return ordered(label for group in groups for label, values in group.items() if len(values))
