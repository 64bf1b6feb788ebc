"""Overrides of recipes: Python's values in TOML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

__all__ = ["recipe_text", "settings"]


def settings(overrides: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Overrides one by one, as the command line has them.

    >>> list(settings({"seq": 64, "parallel": {"data": 2}, "optimizer.adamw.lr": 1e-3, "target": "trn1"}))
    ['seq=64', 'parallel.data=2', 'optimizer.adamw.lr=0.001', 'target="trn1"']
    """
    for key, value in overrides.items():
        if not isinstance(key, str) or not key or "=" in key:
            raise TypeError(f"the key of an override is a name, or names between dots, not {key!r}")
        path = prefix + key
        if isinstance(value, Mapping):
            if not value:
                raise ValueError(f"the override `{path}` is an empty mapping, which changes nothing: leave it out")
            yield from settings(value, path + ".")
        else:
            yield f"{path}={_toml(path, value)}"


def recipe_text(recipe: Mapping[str, Any]) -> str:
    """A recipe as the text of a file; the version is that of this build where none is stated.

    >>> print(recipe_text({"batch": 8, "model": {"name": "llama"}}))
    halite = 1
    batch = 8
    model = { name = "llama" }
    <BLANKLINE>
    """
    stated: dict[str, Any] = {"halite": 1, **recipe}
    return "".join(f"{_key(key)} = {_toml(str(key), value)}\n" for key, value in stated.items())


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a recipe are texts, not {key!r}")
    return key if key.isascii() and key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)


def _toml(path: str, value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return repr(number) if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(f'{path}.{key}', item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(_toml(f"{path}.{at}", item) for at, item in enumerate(value)) + "]"
    if value is None:
        raise TypeError(f"`{path}` is None: leave the key out, so that it keeps its value")
    message = f"`{path}` is a `{type(value).__name__}`, expected a number, a text, a truth value, a list or a mapping"
    raise TypeError(message)


def _text(text: str) -> str:
    """A text in the quotes of TOML, which are those of JSON but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
