"""One self-contained HTML page: text, tables, figures and episodes that play."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from adastack.files import write_whole


class Page:
    """A page that grows from top to bottom and is written whole.

    Example:
        >>> page = Page("What it remembers")
        >>> page.table(["memory", "success"], [["adaptive, k = 2", "100%"]])
        >>> "<td>100%</td>" in page.html()
        True
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts = [f"<h1>{escape(title)}</h1>"]

    def heading(self, text: str) -> None:
        """Adds a heading."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Adds a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def code(self, text: str) -> None:
        """Adds commands or code."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Adds a table of texts."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        self._parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def svg(self, drawing: str, caption: str) -> None:
        """Adds a figure from SVG text, such as matplotlib writes."""
        inner = drawing[drawing.index("<svg") :]
        self._parts.append(f"<figure><figcaption>{escape(caption)}</figcaption>{inner}</figure>")

    def episode(self, episode: dict[str, Any], caption: str) -> None:
        """Adds an episode, as `adastack.viewer.record` returns it, with a player."""
        # A closing tag inside the data would end the script early.
        data = json.dumps(episode).replace("</", "<\\/")
        self._parts.append(
            f'<figure class="episode"><figcaption>{escape(caption)}</figcaption><svg></svg>'
            '<div class="controls"><button>play</button><input type="range" min="0" value="0">'
            f'<span class="says"></span></div>'
            f'<script type="application/json">{data}</script></figure>'
        )

    def html(self) -> str:
        """The whole page."""
        style, script = (_resource(name) for name in ("page.css", "player.js"))
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{style}</style></head>"
            f"<body>{''.join(self._parts)}<script>{script}</script></body></html>"
        )

    def write(self, path: str | Path) -> None:
        """Writes the page, whole."""
        write_whole(path, self.html().encode())


def _resource(name: str) -> str:
    return (resources.files("adastack.viewer") / name).read_text()
