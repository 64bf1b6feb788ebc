"""What people see of runs: pages of HTML and pictures, which notebooks show and scripts write."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from . import _html

__all__ = ["Page", "Plot"]


@dataclass(frozen=True)
class Page:
    """A page of HTML that needs no other file. A notebook shows it; `write` leaves it in a file.

    >>> Page("<!doctype html><p>runs</p>")._repr_html_().startswith("<iframe ")
    True
    """

    html: str = field(repr=False)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes it to a file, and gives the path."""
        return _written(path, self.html)

    def _repr_html_(self) -> str:
        # In a frame of its own, so that its style stays its own.
        style = "width: 100%; height: 44rem; border: 0"
        return f'<iframe srcdoc="{escape(self.html)}" style="{style}"></iframe>'


@dataclass(frozen=True)
class Plot:
    """A picture as SVG. A notebook shows it; `write` leaves it in a file."""

    svg: str = field(repr=False)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes it to a file, and gives the path."""
        return _written(path, self.svg)

    def _repr_html_(self) -> str:
        return _html.picture(self.svg)


def _written(path: str | os.PathLike[str], text: str) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place
