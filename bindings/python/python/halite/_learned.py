"""A model with what it has learned, for what uses it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .bundle import Bundle
from .progress import ProgressLike
from .runs import Run, load_run
from .source import Input, compile, load

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Learnt", "Tensors", "learned"]

Tensors = str | os.PathLike[str] | Mapping[str, "ArrayLike"]
"""A state or weights: the path of a file or a folder, or arrays by name."""

Learnt = Run | Bundle | Input
"""A run, also by the path of its folder or of one of its checkpoints; the folder of a checkpoint of Transformers; or a bundle, or what
`compile` takes.
"""


def learned(
    input: Learnt,
    state: Tensors | None,
    weights: Tensors | None,
    tokenizer: str | os.PathLike[str] | None,
    plugin: str | os.PathLike[str] | None,
    progress: ProgressLike,
) -> tuple[str, _native.Bundle, dict[str, Any]]:
    """What it is called, its bundle, and for the native module where its weights are."""
    if state is not None and weights is not None:
        raise TypeError("weights are those of a `state` or `weights`, not of both")
    own = state is None and weights is None
    found = _at(input) if isinstance(input, str | os.PathLike) else input
    if isinstance(found, _Exported):
        if own:
            weights = found.folder
        name, bundle = found.folder.resolve().name, compile(found.folder / "config.json", progress=progress)
    elif isinstance(found, Run):
        name = found.history.output.resolve().name
        if own:
            state = found.state
        bundle = compile(found.recipe, progress=progress)
    elif isinstance(found, Bundle):
        name, bundle = found.manifest.model.name, found
    else:
        source = load(found)
        name, bundle = source.name, compile(source, progress=progress)
    options = {
        "state": _path(state),
        "weights": _path(weights),
        "state_arrays": _arrays("state", state),
        "weight_arrays": _arrays("weights", weights),
        "tokenizer": None if tokenizer is None else os.fspath(tokenizer),
        "plugin": None if plugin is None else os.fspath(plugin),
    }
    return name, bundle._native, options


def _path(given: Tensors | None) -> str | None:
    return os.fspath(given) if isinstance(given, str | os.PathLike) else None


def _arrays(name: str, given: Tensors | None) -> object:
    """Arrays for the native module, where no path is given."""
    if given is None or isinstance(given, str | os.PathLike):
        return None
    if not isinstance(given, Mapping):
        raise TypeError(f"`{name}` is a path, or arrays by name, not a `{type(given).__name__}`")
    from .tensors import to_native

    return to_native(given)


@dataclass(frozen=True)
class _Exported:
    """A checkpoint of Transformers: weights beside a `config.json`, and mostly a tokenizer."""

    folder: Path


def _at(path: str | os.PathLike[str]) -> Run | Bundle | _Exported | str | os.PathLike[str]:
    folder = Path(path)
    if (folder / "manifest.json").is_file():
        return Bundle.read(folder)
    if not folder.is_dir():
        return path
    if (folder / "config.json").is_file() and not (folder / "recipe.toml").is_file():
        return _Exported(folder)
    return load_run(folder)
