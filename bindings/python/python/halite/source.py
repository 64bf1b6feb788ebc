"""What is compiled: presets, recipes, models, with overrides."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._meant import meant
from ._values import names
from .bundle import Bundle
from .errors import Error, HaliteWarning, diagnostics_of, wrong
from .model import BuiltModel
from .overrides import recipe_text, settings
from .program import Program
from .progress import ProgressLike, watched

__all__ = ["Input", "Recipe", "Source", "Text", "compile", "load"]


class Text:
    """A model as a text in the model language; `name` is what diagnostics call it. It may use built-in libraries; one that uses files is
    compiled by its path."""

    def __init__(self, text: str, *, name: str = "model") -> None:
        self.text = _text_of("the model", text)
        self.name = _text_of("`name`", name)

    def __repr__(self) -> str:
        return f"<halite.Text {self.name}>"


class Recipe:
    """A recipe as a text in TOML or as a mapping of the same keys; `name` is what diagnostics call it.

    >>> import halite
    >>> model = {"name": "llama", "config": {"vocab": 64, "hidden": 32, "heads": 2, "kv_heads": 2, "layers": 1, "ffn": 64}}
    >>> recipe = halite.Recipe({"model": model, "batch": 2, "seq": 16, "optimizer": {"adamw": {"lr": 1e-3}}})
    >>> halite.compile(recipe, roles=["train_step"])
    <halite.Bundle llama: train_step; 14,432 parameters>
    """

    def __init__(self, recipe: str | Mapping[str, Any], *, name: str = "recipe") -> None:
        self.text = recipe_text(recipe) if isinstance(recipe, Mapping) else _text_of("the recipe", recipe)
        self.name = _text_of("`name`", name)

    def __repr__(self) -> str:
        return f"<halite.Recipe {self.name}>"


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


Input = str | os.PathLike[str] | Text | Recipe | BuiltModel | Program | Source


def load(input: Input, /, **overrides: Any) -> Source:
    """A preset (`"tiny"`) or a built-in model (`"gpt2"`), the path of a recipe (`.toml`), of a model (`.hal`) or of a `config.json`,
    a `Text`, a `Recipe`, a model that a `Model` finished, or a `Program` that another framework made.

    `overrides` are keys of the recipe or of the configuration of the model. What is below a key is a mapping, or is named with dots:

    >>> import halite
    >>> halite.load("tiny", layers=4, parallel={"data": 2}, **{"optimizer.adamw.lr": 1e-3})
    <halite.Source tiny>

    A key of the model's configuration that is also a keyword of a function is given as `model={"config": {"seed": 1}}`.
    """
    given = list(settings(overrides))
    if isinstance(input, Source):
        if given:
            raise TypeError(f"a `Source` is loaded already: give `{given[0]}` and other overrides to `halite.load`")
        return input
    if isinstance(input, Text):
        return Source(_native.Source.of_text(input.name, input.text, given))
    if isinstance(input, Recipe):
        return Source(_native.Source.of_recipe(input.name, input.text, given))
    if isinstance(input, BuiltModel):
        return Source(_native.Source.of_model(input._native, given))
    if isinstance(input, Program):
        return Source(_native.Source.of_program(input._native, given))
    path = _path_of(input)
    try:
        return Source(_native.Source.load(path, given))
    except Error as error:
        if error.code == "E0401" and Path(path).is_dir():
            raise _folder(path) from None
        raise


def compile(
    input: Input,
    /,
    *,
    roles: Iterable[str] | None = None,
    keep_ir: bool = False,
    explain: bool = False,
    progress: ProgressLike = None,
    **overrides: Any,
) -> Bundle:
    """Compiles a preset, a recipe or a model to a bundle. The same input gives the same bytes.

    `roles` are the modules to make: by default `train_step`, `forward` and `eval`. `keep_ir` keeps the final IR of each module
    (`Bundle.ir`), `explain` what passes say of their decisions (`Bundle.remarks`). Further keywords are overrides, as `load` takes
    them. What deserves a look is warned of, as `HaliteWarning`, and stands in `Bundle.warnings`.

    >>> import halite
    >>> halite.compile("tiny", seq=64, layers=2)
    <halite.Bundle llama: train_step, forward, eval; 125,248 parameters>

    Raises `Error` with every mistake that was found. Ctrl-C ends it; other threads of Python run meanwhile.
    """
    wanted = None if roles is None else names("roles", roles, '["train_step"]')
    with meant(compile, overrides):
        source = load(input, **overrides)
        with watched(progress, f"compiling {source.name}", unit=" passes") as tell:
            native, reported, remarks = source._native.compile(wanted, keep_ir, explain, tell)
    found = diagnostics_of(reported)
    for diagnostic in found:
        if diagnostic.severity != "note":
            warnings.warn(str(diagnostic), HaliteWarning, stacklevel=2)
    return Bundle(native, warnings=found, remarks=remarks)


def _text_of(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{what} is a text, not a `{type(text).__name__}`")
    if not text.strip():
        raise wrong(f"{what} is an empty text", help="give it a text", code="E0401")
    return text


def _path_of(input: object) -> str:
    """The name of a preset, or a path to a file that can be compiled."""
    if isinstance(input, Mapping):
        raise TypeError("a recipe as a mapping is given as `halite.Recipe(..)`")
    if isinstance(input, Bundle):
        raise TypeError("a `Bundle` is compiled already: give the preset, recipe or model that it was compiled from")
    if not isinstance(input, str | os.PathLike):
        expected = "the name of a preset, a path, a `halite.Text`, a `halite.Recipe`, a finished `halite.Model` or a `halite.Source`"
        raise TypeError(f"expected {expected}, not a `{type(input).__name__}`")
    path = os.fspath(input)
    if not isinstance(path, str):
        raise TypeError("a path is a text or a `pathlib.Path`, not bytes")
    if "\n" in path:
        help = "give a model as `halite.Text(..)`, a recipe as `halite.Recipe(..)`"
        raise wrong("the path has several lines, as a model or a recipe has", help=help, code="E0401")
    if not path:
        raise wrong("the path is empty", help="name a preset, such as `tiny`, or a file", code="E0401")
    return path


def _folder(path: str) -> Error:
    folder = Path(path)
    if (folder / "manifest.json").is_file():
        help = "read it by `halite.Bundle.read(..)`, or give the recipe that it was compiled from"
        return wrong(f"`{path}` is the folder of a bundle, which is compiled already", help=help, code="E0401")
    if (folder / "config.json").is_file():
        help = f"name the file in it: `{folder / 'config.json'}`"
        return wrong(f"`{path}` is a folder", help=help, code="E0401")
    help = "name a file in it that ends in `.toml`, `.hal` or `.json`, or a preset"
    return wrong(f"`{path}` is a folder", help=help, code="E0401")
