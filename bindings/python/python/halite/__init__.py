"""Halite: from a model and a recipe to one training step in HLO."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._native import version as __version__
from .bundle import Bundle
from .checks import check, inspect, install_plugin, verify
from .comparing import Comparison, compare
from .errors import Diagnostic, Error, HaliteWarning, InternalError, Place
from .evaluating import Evaluated, evaluate
from .generating import generate
from .history import Evaluation, History, Update
from .initial import (
    Init,
    constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    normal,
    ones,
    truncated_normal,
    uniform,
    zeros,
)
from .manifest import Manifest
from .model import BuiltModel, Function, Model, Scope, Size, Tensor, size
from .pages import Page, Plot
from .program import Program
from .progress import Progress
from .reports import CheckReport, Inspection, Remark, VerifyReport
from .runs import Run, load_run
from .source import Recipe, Source, Text, compile, load
from .training import Callbacks, train

if TYPE_CHECKING:
    from . import runtime
    from .tensors import Tensors, load_tensors, save_tensors

__all__ = [
    "BuiltModel",
    "Bundle",
    "Callbacks",
    "CheckReport",
    "Comparison",
    "Diagnostic",
    "Error",
    "Evaluated",
    "Evaluation",
    "Function",
    "HaliteWarning",
    "History",
    "Init",
    "Inspection",
    "InternalError",
    "Manifest",
    "Model",
    "Page",
    "Place",
    "Plot",
    "Program",
    "Progress",
    "Recipe",
    "Remark",
    "Run",
    "Scope",
    "Size",
    "Source",
    "Tensor",
    "Tensors",
    "Text",
    "Update",
    "VerifyReport",
    "__version__",
    "check",
    "compare",
    "compile",
    "constant",
    "evaluate",
    "generate",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "inspect",
    "install_plugin",
    "lecun_normal",
    "load",
    "load_run",
    "load_tensors",
    "normal",
    "ones",
    "runtime",
    "save_tensors",
    "size",
    "train",
    "truncated_normal",
    "uniform",
    "verify",
    "zeros",
]

# What needs NumPy or JAX is imported when it is asked for.
_LATER = {"Tensors": "tensors", "load_tensors": "tensors", "save_tensors": "tensors"}
_MODULES = ("jax", "runtime", "tensors")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module `halite` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
