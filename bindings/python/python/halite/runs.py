"""Runs of training that are there: what they were made of, what they measured, and their state."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _native
from .errors import wrong
from .history import Evaluation, History, Update
from .pages import Page, Plot
from .source import Source, load

__all__ = ["Run", "evaluation_of", "load_run", "update_of"]


@dataclass(frozen=True)
class Run:
    """A run of `halite.train` or `halite train`, or one of its checkpoints: what it measured in `update` updates, and the path of the
    `state` after these, which `halite.load_tensors` reads.
    """

    history: History
    state: Path
    update: int
    _recipe: Path = field(repr=False)

    @cached_property
    def recipe(self) -> Source:
        """What it was trained from, with the options of the run: what `compile` and `train` take.

        Raises `Error` where its model cannot be read any more: a run of a `Model` of Python keeps no text of it.
        """
        return load(self._recipe)

    def plot(self) -> Plot:
        """The loss over the updates."""
        return self.history.plot()

    def report(self) -> Page:
        """The page of the run up to `update`: all curves, alarms, times and the recipe. A notebook shows it."""
        return self.history.report()

    def _repr_html_(self) -> str:
        return self.history._repr_html_()


def load_run(path: str | os.PathLike[str]) -> Run:
    """The run in a folder, with its newest state that is whole; or up to the checkpoint in one of its `checkpoints`.

    >>> import halite, numpy as np, tempfile
    >>> rows = np.zeros((8, 65), np.int32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = halite.train("tiny", [rows], steps=3, output=folder)
    ...     run = halite.load_run(folder)
    >>> run.update, len(run.history.updates), run.state.name
    (3, 3, 'state.safetensors')

    Raises `Error` where no run is there, or it has no whole checkpoint.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a run is given by the path of its folder, not as a `{type(path).__name__}`")
    found = _native.run_at(os.fspath(path))
    if found is None:
        help = "give the folder that `halite.train` wrote, or one of its `checkpoints`"
        raise wrong(f"`{os.fspath(path)}` is not the folder of a run", help=help, code="E0401")
    folder, recipe, state, update, (updates, evaluations) = found
    history = History(tuple(map(update_of, updates)), tuple(map(evaluation_of, evaluations)), Path(folder))
    return Run(history, Path(state), update, Path(recipe))


def evaluation_of(raw: tuple[Any, ...]) -> Evaluation:
    """An evaluation of the native module."""
    step, data, loss, counted, of_tokens, metrics = raw
    return Evaluation(step, data, loss, counted, "tokens" if of_tokens else "count", dict(metrics))


def update_of(raw: tuple[Any, ...]) -> Update:
    """An update of the native module."""
    step, seen, of_tokens, metrics = raw
    return Update(step, seen, "tokens" if of_tokens else "examples", dict(metrics))
