"""What the compiler has to say: diagnostics, as exceptions and as warnings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
    """One message: what was found, what was expected, what to do."""

    severity: str
    code: str
    message: str
    place: Place | None
    also: tuple[Place, ...]
    notes: tuple[str, ...]
    help: str
    report: str

    @property
    def file(self) -> str | None:
        """The file that it is about, if it is about one."""
        return self.place and self.place.file

    @property
    def line(self) -> int | None:
        """The line in that file, from 1."""
        return self.place and self.place.line

    @property
    def column(self) -> int | None:
        """The column in that line, from 1."""
        return self.place and self.place.column

    def __str__(self) -> str:
        return self.report


class Error(Exception):
    """The input is wrong. It has every mistake that was found, at least one."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(diagnostic) for diagnostic in diagnostics))
        self.diagnostics = tuple(diagnostics)

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


class InternalError(Error):
    """An invariant of the compiler is broken; the fault is Halite's."""


class HaliteWarning(UserWarning):
    """The input is suspicious."""


def _diagnostic(described: dict[str, Any], report: str) -> Diagnostic:
    def place(of: dict[str, Any]) -> Place:
        return Place(of["file"], of["line"], of["column"], of.get("label", ""))

    return Diagnostic(
        severity=described["severity"],
        code=described["code"],
        message=described["message"],
        place=place(described) if "file" in described else None,
        also=tuple(place(other) for other in described.get("also", ())),
        notes=tuple(described.get("notes", ())),
        help=described.get("help", ""),
        report=report,
    )


def diagnostics_of(reported: Iterable[tuple[str, str]]) -> list[Diagnostic]:
    """Diagnostics of the native module: each as JSON and as a report."""
    return [_diagnostic(json.loads(described), report) for described, report in reported]


def error_of(reported: Iterable[tuple[str, str]]) -> Error:
    """The exception of diagnostics of the native module."""
    diagnostics = diagnostics_of(reported)
    bug = any(diagnostic.severity == "bug" for diagnostic in diagnostics)
    return (InternalError if bug else Error)(diagnostics)


def wrong(message: str, *, help: str, code: str = "E0502", notes: Sequence[str] = ()) -> Error:
    """An error that is found in Python."""
    report = f"  × error[{code}]: {message}\n" + "".join(f"  note: {note}\n" for note in notes) + f"  help: {help}\n"
    return Error([Diagnostic("error", code, message, None, (), tuple(notes), help, report)])
