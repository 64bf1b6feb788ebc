"""Halite: from a model and a recipe to one training step in HLO."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .bundle import Bundle
from .checks import check, inspect, install_plugin, verify
from .errors import Diagnostic, Error, HaliteWarning, InternalError, Place
from .manifest import Manifest
from .progress import Progress
from .reports import CheckReport, Inspection, Remark, VerifyReport
from .source import Recipe, Source, Text, compile, load

if TYPE_CHECKING:
    from . import runtime
    from .tensors import load_tensors, save_tensors

__all__ = [
    "Bundle",
    "CheckReport",
    "Diagnostic",
    "Error",
    "HaliteWarning",
    "Inspection",
    "InternalError",
    "Manifest",
    "Place",
    "Progress",
    "Recipe",
    "Remark",
    "Source",
    "Text",
    "VerifyReport",
    "check",
    "compile",
    "inspect",
    "install_plugin",
    "load",
    "load_tensors",
    "runtime",
    "save_tensors",
    "verify",
]

# What needs NumPy or JAX is imported when it is asked for.
_LATER = {"load_tensors": "tensors", "save_tensors": "tensors"}
_MODULES = ("jax", "runtime", "tensors")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module `halite` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
