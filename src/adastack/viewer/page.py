"""One self-contained HTML page: text, tables, figures and episodes that play."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from adastack.files import write_whole
from adastack.viewer.markdown import to_html
from adastack.viewer.svg import slim

MOST_COLUMNS = 4
"""Of a table that fits a phone."""


class Page:
    """A page that grows from top to bottom and is written whole.

    Example:
        >>> page = Page("What it remembers")
        >>> page.table(["memory", "success"], [["adaptive, k = 2", "100%"]])
        >>> "<td>100%</td>" in page.html()
        True
    """

    scripts: tuple[str, ...] = ("draw.js", "player.js")
    styles: tuple[str, ...] = ("page.css",)

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts = [f'<h1 id="top">{escape(title)}</h1>']
        self._headings: list[tuple[str, str]] = []
        self._contents_at: int | None = None

    def contents(self) -> None:
        """Adds a list of all headings, those that follow included."""
        self._contents_at = len(self._parts)
        self._parts.append("")

    def heading(self, text: str, anchor: str | None = None) -> None:
        """Adds a heading; its anchor is where links to it lead."""
        anchor = anchor or slug(text)
        self._headings.append((anchor, text))
        back = "" if self._contents_at is None else '<a class="top" href="#top">top</a>'
        self._parts.append(f'<h2 id="{escape(anchor)}">{escape(text)}{back}</h2>')

    def text(self, text: str) -> None:
        """Adds a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def markdown(self, text: str) -> None:
        """Adds simple Markdown: paragraphs, headings, lists, tables, code, links, emphasis."""
        self._parts.append(to_html(text))

    def code(self, text: str) -> None:
        """Adds commands or code."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def raw(self, html: str) -> None:
        """Adds HTML as it is."""
        self._parts.append(html)

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
    ) -> None:
        """Adds a table of texts; on a narrow screen the rows of a wide one become cards."""
        wide = len(header) > MOST_COLUMNS
        title = f"<caption>{escape(caption)}</caption>" if caption else ""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        names = [f' data-name="{escape(cell)}"' if wide else "" for cell in header]
        body = "".join(
            "<tr>"
            + "".join(f"<td{n}>{escape(cell)}</td>" for n, cell in zip(names, row, strict=True))
            + "</tr>"
            for row in rows
        )
        kind = ' class="wide"' if wide else ""
        self._parts.append(
            f'<div class="scroll"><table{kind}>{title}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

    def svg(self, drawing: str, caption: str) -> None:
        """Adds a figure from SVG text, such as matplotlib writes."""
        inner = _with_own_names(slim(drawing), f"d{len(self._parts)}-")
        # On a narrow screen letters shrink to two thirds; what is wider still scrolls.
        width = re.search(r'<svg[^>]* width="([\d.]+)pt"', inner)
        points = float(width[1]) if width else 0.0
        least = f' style="--least: {0.9 * points:.0f}px; --most: {2 * points:.0f}px"' * bool(width)
        self._parts.append(
            f'<figure class="drawing"{least}><figcaption>{escape(caption)}</figcaption>'
            f"{inner}</figure>"
        )

    def episode(self, episode: dict[str, Any], caption: str) -> None:
        """Adds an episode, as `adastack.viewer.record` or `film` returns it, with a player."""
        self.episodes({caption: episode})

    def episodes(self, episodes: Mapping[str, dict[str, Any]]) -> None:
        """Adds episodes to compare, by caption: they open where they differ and play in step."""
        figures = (_figure(caption, episode) for caption, episode in episodes.items())
        self._parts.append(f'<div class="together">{"".join(figures)}</div>')

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        frame = f'<iframe srcdoc="{escape(self.html())}" width="100%" height="480"></iframe>'
        return frame

    def html(self) -> str:
        """The whole page."""
        parts = list(self._parts)
        if self._contents_at is not None:
            links = "".join(
                f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>'
                for anchor, text in self._headings
            )
            parts[self._contents_at] = f'<nav><ul class="contents">{links}</ul></nav>'
        style = "".join(_resource(name) for name in self.styles)
        script = "".join(_resource(name) for name in self.scripts)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{style}</style></head>"
            f"<body>{''.join(parts)}<script>{script}</script></body></html>"
        )

    def write(self, path: str | Path) -> None:
        """Writes the page, whole."""
        write_whole(path, self.html().encode())


def _figure(caption: str, episode: dict[str, Any]) -> str:
    screen = '<svg class="screen"></svg>'
    if "images" in episode:
        screen = '<img alt="the world and the memory">'
    return (
        f'<figure class="episode"><figcaption>{escape(caption)}</figcaption>{screen}'
        '<div class="controls"><button>play</button>'
        '<input type="range" min="0" value="0" aria-label="step">'
        '<span class="says"></span></div><svg class="kept" role="img" aria-label="what was kept, '
        f'and for how long"></svg>{embedded(episode)}</figure>'
    )


def embedded(document: Any) -> str:
    """A JSON document as an element that scripts read."""
    # A tag or a comment inside the data would end the script early, or swallow its end.
    data = json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json">{data}</script>'


def slug(text: str) -> str:
    """A heading as the name of an anchor."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def _with_own_names(svg: str, prefix: str) -> str:
    """The drawing with names that no other drawing on the page has: its clips and markers."""
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    return re.sub(r'href="#', f'href="#{prefix}', svg)


def _resource(name: str) -> str:
    return (resources.files("adastack.viewer") / name).read_text()
