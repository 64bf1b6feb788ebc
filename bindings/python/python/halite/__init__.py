"""Halite: from a model and a recipe to one training step in HLO."""

from . import runtime
from .bundle import Bundle
from .errors import Diagnostic, Error, HaliteWarning, InternalError, Place
from .initial import Init, constant, normal, ones, zeros
from .model import BuiltModel, Function, Model, Scope, Size, Tensor, size
from .source import Source, Text, compile, load

__all__ = [
    "BuiltModel",
    "Bundle",
    "Diagnostic",
    "Error",
    "Function",
    "HaliteWarning",
    "Init",
    "InternalError",
    "Model",
    "Place",
    "Scope",
    "Size",
    "Source",
    "Tensor",
    "Text",
    "compile",
    "constant",
    "load",
    "normal",
    "ones",
    "runtime",
    "size",
    "zeros",
]
