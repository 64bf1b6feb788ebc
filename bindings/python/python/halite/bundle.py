"""Bundles: what compiling makes and everything else takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from . import _native
from .errors import Diagnostic
from .manifest import Manifest, parse
from .tensors import Tensors, from_native, to_native

__all__ = ["Bundle"]


class Bundle:
    """HLO modules as bytes, and a manifest that says what they take and give."""

    def __init__(self, native: _native.Bundle, *, warnings: Sequence[Diagnostic] = ()) -> None:
        self._native = native
        self.warnings = tuple(warnings)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Bundle:
        """The bundle in a folder, held to what its own recipe makes of it."""
        return cls(_native.Bundle.read(os.fspath(folder)))

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes the folder, whole or not at all."""
        self._native.write(os.fspath(folder))

    @cached_property
    def manifest(self) -> Manifest:
        """What is in it and how to run it."""
        return parse(self._native.manifest())

    def hlo(self, module: str, *, decomposed: bool = False) -> bytes:
        """The serialized `HloModuleProto` of a module; `decomposed` has decompositions in the place of kernels."""
        return self._native.hlo(module, decomposed)

    def stablehlo(self, module: str, *, decomposed: bool = False) -> str:
        """A module as StableHLO that the ranks run as replicas."""
        return self._native.stablehlo(module, decomposed)

    def pack(self, state: Mapping[str, np.ndarray]) -> Tensors:
        """Tensors of the model as the bundle stores them: projections that are merged as one array."""
        return from_native(_native.pack(self._native, to_native(state)))

    def unpack(self, state: Mapping[str, np.ndarray]) -> Tensors:
        """What the bundle stores as tensors of the model."""
        return from_native(_native.unpack(self._native, to_native(state)))

    def __repr__(self) -> str:
        manifest = self.manifest
        modules = ", ".join(module.name for module in manifest.modules)
        return f"<halite.Bundle {manifest.model.name}: {modules}; {manifest.statistics.parameters:,} parameters>"
