"""How far long work is: a bar in the terminal or the notebook, or a function that is told."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

__all__ = ["Progress", "ProgressLike"]

# Work that is done within this many seconds shows nothing.
_PATIENCE = 1.0


@dataclass(frozen=True)
class Progress:
    """How far some work is: `done` of `total`, which is `None` where nobody knows how much there is to do."""

    work: str
    message: str
    done: int
    total: int | None


ProgressLike = bool | Callable[[Progress], object] | None
"""`True` shows a bar, `False` nothing; a function is told now and then; by default there is a bar where someone watches."""

Told = Callable[[str, int, "int | None"], object]


class watched(AbstractContextManager["Told | None"]):
    """Around some work: what is to be told of it, or `None` if nobody wants to know."""

    def __init__(self, progress: ProgressLike, work: str, *, unit: str = "it") -> None:
        self._bar: _Bar | None = None
        self._tell: Told | None = None
        if callable(progress):
            function = progress
            self._tell = lambda message, done, total: function(Progress(work, message, done, total))
        elif _is_watched() if progress is None else progress:
            self._bar = _Bar(work, unit)
            self._tell = self._bar.tell

    def __enter__(self) -> Told | None:
        return self._tell

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Whether someone watches: on a terminal or in a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    """A bar that appears when the work takes longer than one waits."""

    def __init__(self, work: str, unit: str) -> None:
        self._work = work
        self._unit = unit
        self._since = time.monotonic()
        self._shown: Any = None

    def tell(self, message: str, done: int, total: int | None) -> None:
        if self._shown is None:
            if time.monotonic() - self._since < _PATIENCE:
                return
            from tqdm.auto import tqdm  # type: ignore[import-untyped]

            scaled = self._unit == "B"
            self._shown = tqdm(desc=self._work, total=total, unit=self._unit, unit_scale=scaled, leave=False)
        self._shown.total = total
        self._shown.set_postfix_str(message, refresh=False)
        self._shown.update(max(done - self._shown.n, 0))

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()
