"""What is compiled: presets, recipes, models, with overrides."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _native
from .bundle import Bundle
from .errors import HaliteWarning, diagnostics_of
from .model import BuiltModel

__all__ = ["Source", "Text", "compile", "load"]


class Text:
    """A model as a text in the model language, with a name for people."""

    def __init__(self, text: str, *, name: str = "model") -> None:
        self.text = text
        self.name = name


class Source:
    """A recipe with its model, loaded: the input of a compile."""

    def __init__(self, native: _native.Source) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """That of the preset, or the stem of the file."""
        return self._native.name

    def __repr__(self) -> str:
        return f"<halite.Source {self.name}>"


Input = str | os.PathLike[str] | Text | BuiltModel | Source


def load(input: Input, /, **overrides: Any) -> Source:
    """A preset (`"tiny"`), the path of a recipe (`.toml`), a model (`.hal`) a `config.json`, a `Text`,
    or a model that a `Model` finished.

    `overrides` are keys of the recipe or of the model: `load("tiny", layers=4, parallel={"data": 2})`.
    """
    settings = list(_settings(overrides))
    if isinstance(input, Source):
        if settings:
            raise TypeError("a `Source` is loaded already: give the overrides to `halite.load`")
        return input
    if isinstance(input, Text):
        return Source(_native.Source.of_text(input.name, input.text, settings))
    if isinstance(input, BuiltModel):
        return Source(_native.Source.of_model(input._native, settings))
    return Source(_native.Source.load(os.fspath(input), settings))


def compile(input: Input, /, *, roles: Iterable[str] | None = None, **overrides: Any) -> Bundle:
    """Compiles a preset, a recipe or a model to a bundle. The same input gives the same bytes.

    `roles` are the modules to make: by default `train_step`, `forward` and `eval`. Further keywords are overrides, as
    `load` takes them. What deserves a look is warned of, as `HaliteWarning`, and stands in `Bundle.warnings`.
    """
    source = load(input, **overrides)
    native, reported = source._native.compile(None if roles is None else list(roles))
    found = diagnostics_of(reported)
    for diagnostic in found:
        warnings.warn(str(diagnostic), HaliteWarning, stacklevel=2)
    return Bundle(native, warnings=found)


def _settings(overrides: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Overrides as the command line has them: `parallel.data=2`."""
    for key, value in overrides.items():
        path = prefix + key
        if isinstance(value, Mapping):
            yield from _settings(value, path + ".")
        else:
            yield f"{path}={_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, bool | int | float | str):
        return value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(json.dumps(item) for item in value) + "]"
    raise TypeError(f"an override is a number, a text, a truth value, a list or a mapping, not `{value!r}`")
