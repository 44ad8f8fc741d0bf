"""As much of Markdown as our own pages use, as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape


def to_html(text: str) -> str:
    """Paragraphs, headings, lists, tables, code blocks, links, code and emphasis.

    Headings become one level smaller than they say, since they stand inside a page; raw HTML is
    shown as it was typed.

    Example:
        >>> to_html("Two *slots* are `enough`.")
        '<p>Two <em>slots</em> are <code>enough</code>.</p>'
    """
    return "".join(_block(block) for block in _blocks(text))


def _blocks(text: str) -> list[list[str]]:
    """Lines that belong together: blank lines separate, fences and headings stand alone."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.strip("\n").splitlines():
        if line.startswith("```"):
            fenced = not fenced
            if fenced:
                blocks.append([line])
            else:
                blocks.append([])
        elif fenced:
            blocks[-1].append(line)
        elif not line.strip():
            blocks.append([])
        elif line.startswith("#"):
            blocks.extend([[line], []])
        else:
            blocks[-1].append(line)
    return [block for block in blocks if block]


def _block(lines: list[str]) -> str:
    first = lines[0]
    if first.startswith("```"):
        return f"<pre>{escape(chr(10).join(lines[1:]))}</pre>"
    if all(line.startswith("    ") for line in lines):
        return f"<pre>{escape(chr(10).join(line[4:] for line in lines))}</pre>"
    if first.startswith("#"):
        level = min(6, len(first) - len(first.lstrip("#")) + 2)
        return f"<h{level}>{_inline(first.lstrip('#').strip())}</h{level}>"
    if len(lines) > 1 and re.fullmatch(r"\|[\s:|-]+\|", lines[1].strip()):
        return _table(lines)
    if re.match(r"[-*] ", first):
        return _list("ul", r"[-*] ", lines)
    if re.match(r"\d+\. ", first):
        return _list("ol", r"\d+\. ", lines)
    return f"<p>{_inline(' '.join(line.strip() for line in lines))}</p>"


def _list(kind: str, mark: str, lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        found = re.match(mark, line)
        if found:
            items.append(line[found.end() :])
        else:
            items[-1] += " " + line.strip()
    inner = "".join(f"<li>{_inline(item)}</li>" for item in items)
    return f"<{kind}>{inner}</{kind}>"


def _table(lines: list[str]) -> str:
    def row(line: str, tag: str) -> str:
        cells = line.strip().strip("|").split("|")
        return (
            "<tr>" + "".join(f"<{tag}>{_inline(cell.strip())}</{tag}>" for cell in cells) + "</tr>"
        )

    body = "".join(row(line, "td") for line in lines[2:])
    return (
        f'<div class="scroll"><table class="prose"><thead>{row(lines[0], "th")}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _inline(text: str) -> str:
    """Code, links and emphasis within a line; what is code stays as it was typed."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{escape(part[1:-1])}</code>" if part.startswith("`") else _emphasised(part)
        for part in parts
    )


def _emphasised(text: str) -> str:
    patterns: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
        (r"!?\[([^\]]+)\]\(([^)\s]+)\)", _link),
        (r"\*\*(.+?)\*\*", r"<strong>\1</strong>"),
        (r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>"),
    )
    html = escape(text)
    for pattern, replacement in patterns:
        html = re.sub(pattern, replacement, html)
    return html


def _link(found: re.Match[str]) -> str:
    """Only addresses that lead somewhere from a page that stands alone."""
    words, target = found.groups()
    if target.startswith(("http://", "https://", "#")):
        return f'<a href="{target}">{words}</a>'
    return words
