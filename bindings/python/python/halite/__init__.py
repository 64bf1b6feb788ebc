"""Halite: from a model and a recipe to one training step in HLO."""

from . import runtime
from .bundle import Bundle
from .errors import Diagnostic, Error, HaliteWarning, InternalError, Place
from .source import Source, Text, compile, load

__all__ = [
    "Bundle",
    "Diagnostic",
    "Error",
    "HaliteWarning",
    "InternalError",
    "Place",
    "Source",
    "Text",
    "compile",
    "load",
    "runtime",
]
