"""HTML for notebooks, readable on light and on dark ground."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

# Shades in the middle, which stand out from white and from black.
_COLORS = {
    "31": "#d9363e",
    "32": "#2e9e4f",
    "33": "#b8860b",
    "34": "#4f7fdd",
    "35": "#b558c4",
    "36": "#1a93a5",
}
# Notebooks have texts in rich output in the font of prose unless told otherwise.
_PRE = "font-family: var(--jp-code-font-family, monospace); line-height: 1.25; white-space: pre; overflow-x: auto"
_ESCAPE = re.compile("\x1b\\[([0-9;]*)m")


def colored_text(text: str) -> str:
    """A text with the colors of a terminal."""
    parts = _ESCAPE.split(text)
    html = [escape(parts[0])]
    for codes, part in zip(parts[1::2], parts[2::2], strict=True):
        style = _style(codes.split(";"))
        html.append(f'<span style="{style}">{escape(part)}</span>' if style else escape(part))
    return f'<pre style="{_PRE}">{"".join(html)}</pre>'


def _style(codes: Sequence[str]) -> str:
    styles = [f"color: {_COLORS[code]}" for code in codes if code in _COLORS]
    if "1" in codes:
        styles.append("font-weight: bold")
    return "; ".join(styles)


def picture(svg: str) -> str:
    """A picture as wide as there is room, which shares no names with others on the page."""
    data = b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" style="max-width: 100%; height: auto">'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table whose first column is text and whose others are numbers."""

    def row(cells: Sequence[str], tag: str) -> str:
        sides = ["left"] + ["right"] * (len(cells) - 1)
        made = (f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    said = f'<caption style="text-align: left; font-weight: bold">{escape(caption)}</caption>' if caption else ""
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table>{said}<thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
