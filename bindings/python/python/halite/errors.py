"""What the compiler has to say: diagnostics, as exceptions and as warnings."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _native
from ._html import colored_text

__all__ = ["Diagnostic", "Error", "HaliteWarning", "InternalError", "Place"]


@dataclass(frozen=True)
class Place:
    """A place in a text; lines and columns count from 1."""

    file: str
    line: int
    column: int
    label: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One message: what was found, what was expected, what to do.

    `report` is all of it for people, with the line that it is about; `colored` is that for a terminal.
    """

    severity: str
    code: str
    message: str
    place: Place | None
    also: tuple[Place, ...]
    notes: tuple[str, ...]
    help: str
    report: str = field(repr=False)
    colored: str = field(repr=False)

    @property
    def file(self) -> str | None:
        """The file that it is about, if it is about one."""
        return None if self.place is None else self.place.file

    @property
    def line(self) -> int | None:
        """The line in that file, from 1."""
        return None if self.place is None else self.place.line

    @property
    def column(self) -> int | None:
        """The column in that line, from 1."""
        return None if self.place is None else self.place.column

    def __str__(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        return colored_text(self.colored)


class Error(Exception):
    """The input is wrong. It has every mistake that was found, at least one.

    In a notebook it shows its report, and the lines of the caller, in the place of a traceback through Halite.

    >>> import halite
    >>> try:
    ...     halite.compile("tiny", batch=0)
    ... except halite.Error as error:
    ...     print(error.code, error.message, "/", error.help)
    E0405 `batch` is 0, expected a whole number from 1 to 16777216 / set `batch` to such a number
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(tuple(diagnostics))
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n" + "\n".join(diagnostic.report for diagnostic in self.diagnostics)

    @property
    def message(self) -> str:
        """The headline of the first."""
        return self.diagnostics[0].message

    @property
    def code(self) -> str:
        """The code of the first, such as `E0301`."""
        return self.diagnostics[0].code

    @property
    def help(self) -> str:
        """What to do about the first."""
        return self.diagnostics[0].help

    @property
    def file(self) -> str | None:
        """The file that the first is about, if it is about one."""
        return self.diagnostics[0].file

    @property
    def line(self) -> int | None:
        """The line in that file, from 1."""
        return self.diagnostics[0].line

    @property
    def column(self) -> int | None:
        """The column in that line, from 1."""
        return self.diagnostics[0].column

    def _repr_html_(self) -> str:
        return colored_text("\n".join(diagnostic.colored for diagnostic in self.diagnostics))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows where nobody catches it."""
        head = f"{type(self).__module__}.{type(self).__name__}"
        called = [f"  {frame.name} at {frame.filename}:{frame.lineno}" for frame in _frames_of_callers(self)]
        calls = ["called by", *called, ""] if len(called) > 1 else []
        return [f"\x1b[31m{head}\x1b[0m", "", *(each.colored for each in self.diagnostics), *calls]


class InternalError(Error):
    """An invariant of the compiler is broken; the fault is Halite's."""


class HaliteWarning(UserWarning):
    """The input is suspicious."""


# What tracebacks call them, which is where they are found.
for _public in (Error, InternalError, HaliteWarning):
    _public.__module__ = "halite"


def _frames_of_callers(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the traceback that are neither ours nor IPython's."""
    hidden = [str(Path(__file__).parent)]
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.__file__ is not None:
        hidden.append(str(Path(ipython.__file__).parent))
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not any(frame.filename.startswith(folder) for folder in hidden)]


Reported = tuple[str, str, str]
"""A diagnostic of the native module: as JSON, as a report, and as one with colors."""


def _diagnostic(reported: Reported) -> Diagnostic:
    described, report, colored = reported
    raw: dict[str, Any] = json.loads(described)

    def place(of: dict[str, Any]) -> Place:
        return Place(of["file"], of["line"], of["column"], of.get("label", ""))

    return Diagnostic(
        severity=raw["severity"],
        code=raw["code"],
        message=raw["message"],
        place=place(raw) if "file" in raw else None,
        also=tuple(place(other) for other in raw.get("also", ()) if "file" in other),
        notes=tuple(raw.get("notes", ())),
        help=raw.get("help", ""),
        report=report,
        colored=colored,
    )


def diagnostics_of(reported: Iterable[Reported]) -> list[Diagnostic]:
    """Diagnostics of the native module."""
    return [_diagnostic(each) for each in reported]


def error_of(reported: Iterable[Reported]) -> Error:
    """The exception of diagnostics of the native module."""
    diagnostics = diagnostics_of(reported)
    bug = any(diagnostic.severity == "bug" for diagnostic in diagnostics)
    return (InternalError if bug else Error)(diagnostics)


def wrong(message: str, *, help: str, code: str = "E0505", notes: Sequence[str] = ()) -> Error:
    """An error that is found in Python."""
    return Error([_diagnostic(_native.found(code, message, list(notes), help))])
