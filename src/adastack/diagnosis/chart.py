"""Scores with their intervals as a drawing that follows the page's colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

ROW, LEFT, WIDTH, RIGHT = 30, 150, 300, 30
COLOURS = {"enough": "var(--good)", "short": "var(--bad)", "open": "var(--open)"}


@dataclass(frozen=True)
class Bar:
    """One row: a mean and its interval."""

    name: str
    mean: float
    low: float
    high: float
    standing: str


def score_chart(bars: Sequence[Bar], lines: Mapping[str, float], caption: str) -> str:
    """A figure: a dot and an interval for each memory, and lines to compare them with."""
    numbers = [*lines.values(), *(bar.mean for bar in bars)]
    low, high = min(numbers), max(numbers)
    span = (high - low) or 1.0
    low, high = low - 0.08 * span, high + 0.08 * span

    def at(value: float) -> float:
        return round(LEFT + WIDTH * (min(max(value, low), high) - low) / (high - low), 1)

    height = ROW * len(bars)
    parts = [_line(name, at(value), value, height) for name, value in lines.items()]
    parts += [_bar(bar, ROW * i + ROW / 2, at) for i, bar in enumerate(bars)]
    box = f"0 -22 {LEFT + WIDTH + RIGHT} {height + 26}"
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f'<svg viewBox="{box}" style="width:100%;max-width:44rem" role="img" '
        f'aria-label="{escape(caption)}">{"".join(parts)}</svg></figure>'
    )


def _line(name: str, x: float, value: float, height: int) -> str:
    return (
        f'<line x1="{x}" x2="{x}" y1="0" y2="{height}" stroke="var(--faint)" '
        f'stroke-dasharray="3 4"/><text class="label" x="{x}" y="-8" text-anchor="middle">'
        f"{escape(name)} {value:.3g}</text>"
    )


def _bar(bar: Bar, y: float, at: Callable[[float], float]) -> str:
    colour = COLOURS[bar.standing]
    return (
        f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end" fill="var(--ink)" '
        f'style="font:13px system-ui">{escape(bar.name)}</text>'
        f'<line x1="{at(bar.low)}" x2="{at(bar.high)}" y1="{y}" y2="{y}" stroke="{colour}" '
        f'stroke-width="4" stroke-linecap="round" opacity=".45"/>'
        f'<circle cx="{at(bar.mean)}" cy="{y}" r="5" fill="{colour}">'
        f"<title>{bar.mean:.4g} [{bar.low:.4g}, {bar.high:.4g}]</title></circle>"
    )
