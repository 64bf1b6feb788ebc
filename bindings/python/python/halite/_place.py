"""Where calls of the package come from."""

from __future__ import annotations

import sys

__all__ = ["At", "place"]

At = tuple[str, int]
"""The file of the code, and the line in it."""


def place() -> At:
    """The innermost line that runs outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _is_own(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == __package__
