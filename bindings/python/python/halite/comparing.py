"""Runs beside one another."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import _native, _table
from .history import History
from .pages import Page, Plot
from .runs import Run, load_run

__all__ = ["Comparison", "compare"]

# The most characters of a value that a table shows.
_SHOWN = 32


@dataclass(frozen=True)
class Comparison:
    """Runs beside one another: what they are called, and the keys in which their recipes differ, each with its value in every run as JSON, or
    `None` where it is not set.

    It prints what the runs came to and what differs; a notebook shows the `page`.
    """

    runs: tuple[str, ...]
    differences: Mapping[str, tuple[str | None, ...]]
    page: Page
    loss: Plot
    _losses: Sequence[Sequence[str]] = field(repr=False)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes `compare.html` and `loss.svg`, as `halite compare -o` does."""
        self.page.write(Path(folder, "compare.html"))
        self.loss.write(Path(folder, "loss.svg"))

    def __str__(self) -> str:
        head, *rows = self._losses
        came_to = _table.table(head, rows)
        if not self.differences:
            return f"{came_to}\n\ntheir recipes are the same"
        values = ((key, *(_cut(value or "") for value in each)) for key, each in self.differences.items())
        return f"{came_to}\n\n{_table.table(('recipe', *self.runs), values)}"

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def compare(*runs: Run | History | str | os.PathLike[str]) -> Comparison:
    """Lays runs beside one another, as `halite compare` does: their curves, and how their recipes differ.

    A run is what `train` gave, a `Run`, or the path of its folder or of a checkpoint; it may still go on. It is called as its folder is.

    >>> import halite, numpy as np, tempfile
    >>> rows = np.zeros((8, 65), np.int32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     slow = halite.train("tiny", [rows], steps=3, output=f"{folder}/slow")
    ...     fast = halite.train("tiny", [rows], steps=3, output=f"{folder}/fast", optimizer={"adamw": {"lr": 1e-2}})
    ...     compared = halite.compare(slow, fast)
    >>> compared.differences
    {'optimizer.adamw.lr': ('0.005', '0.01')}

    Raises `Error` where one is no folder of a run, and `TypeError` for fewer than two.
    """
    if len(runs) < 2:
        raise TypeError(f"two runs or more are compared, not {len(runs)}")
    named = [_named(run) for run in runs]
    losses, differences, page, loss = _native.compare(named)
    differ = {key: tuple(values) for key, values in differences}
    return Comparison(tuple(name for name, _, _ in named), differ, Page(page), Plot(loss), losses)


def _named(run: Run | History | str | os.PathLike[str]) -> tuple[str, str, int]:
    """What a run is called, its folder, and the update up to which it is looked at."""
    if isinstance(run, str | os.PathLike):
        # A run without a checkpoint yet is compared too.
        name = os.fspath(run).rstrip("/")
        if Path(run).parent.name != "checkpoints":
            return name, os.fspath(run), 2**64 - 1
        loaded = load_run(run)
        return name, os.fspath(loaded.history.output), loaded.update
    if isinstance(run, Run):
        return str(run.history.output), os.fspath(run.history.output), run.update
    if isinstance(run, History):
        return str(run.output), os.fspath(run.output), run.last
    raise TypeError(f"a run is what `train` or `load_run` gave, or the path of its folder, not a `{type(run).__name__}`")


def _cut(value: str) -> str:
    """A value, or its end where it is long: paths differ there."""
    return value if len(value) <= _SHOWN else "…" + value[1 - _SHOWN :]
