"""A model with what it has learned, for what uses it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _native
from .bundle import Bundle
from .progress import ProgressLike
from .runs import Run, load_run
from .source import Input, compile, load

__all__ = ["Learnt", "learned"]

Learnt = Run | Bundle | Input
"""A run, also by the path of its folder or of one of its checkpoints; or a bundle, or what `compile` takes."""


def learned(
    input: Learnt,
    state: str | os.PathLike[str] | None,
    weights: str | os.PathLike[str] | None,
    tokenizer: str | os.PathLike[str] | None,
    plugin: str | os.PathLike[str] | None,
    progress: ProgressLike,
) -> tuple[str, _native.Bundle, dict[str, Any]]:
    """What it is called, its bundle, and for the native module where its weights are."""
    if state is not None and weights is not None:
        raise TypeError("weights are those of a `state` or `weights`, not of both")
    if isinstance(input, str | os.PathLike):
        input = _at(input)
    if isinstance(input, Run):
        name = input.history.output.resolve().name
        if state is None and weights is None:
            state = input.state
        bundle = compile(input.recipe, progress=progress)
    elif isinstance(input, Bundle):
        name, bundle = input.manifest.model.name, input
    else:
        source = load(input)
        name, bundle = source.name, compile(source, progress=progress)
    options = {
        "state": None if state is None else os.fspath(state),
        "weights": None if weights is None else os.fspath(weights),
        "tokenizer": None if tokenizer is None else os.fspath(tokenizer),
        "plugin": None if plugin is None else os.fspath(plugin),
    }
    return name, bundle._native, options


def _at(path: str | os.PathLike[str]) -> Run | Bundle | str | os.PathLike[str]:
    folder = Path(path)
    if (folder / "manifest.json").is_file():
        return Bundle.read(folder)
    if not folder.is_dir() or (folder / "config.json").is_file():
        return path
    return load_run(folder)
