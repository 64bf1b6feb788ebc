"""Bundles: what compiling makes and everything else takes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from . import _native
from ._values import whole
from .errors import Diagnostic, wrong
from .manifest import Manifest, parse
from .progress import ProgressLike, watched
from .reports import Remark

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .tensors import Tensors

__all__ = ["Bundle"]


class Bundle:
    """HLO modules as bytes, and a manifest that says what they take and give.

    >>> import halite
    >>> bundle = halite.compile("tiny", roles=["train_step"])
    >>> [module.name for module in bundle.manifest.modules]
    ['train_step']
    """

    def __init__(self, native: _native.Bundle, *, warnings: Sequence[Diagnostic] = (), remarks: str = "[]") -> None:
        self._native = native
        self._remarks = remarks
        self.warnings = tuple(warnings)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a `Bundle` is not pickled or copied: write it to a folder, and read it there")

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Bundle:
        """The bundle in a folder, held to what its own recipe makes of it."""
        return cls(_native.Bundle.read(os.fspath(folder)))

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes the folder, whole or not at all; a bundle that is there is replaced in one step."""
        self._native.write(os.fspath(folder))

    @cached_property
    def manifest(self) -> Manifest:
        """What is in it and how to run it."""
        return parse(self._native.manifest())

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """What passes said of their decisions, where the bundle was compiled with `explain`."""
        return tuple(Remark(**{**raw, "scopes": tuple(raw["scopes"])}) for raw in json.loads(self._remarks))

    def hlo(self, module: str, *, decomposed: bool = False) -> bytes:
        """The serialized `HloModuleProto` of a module; `decomposed` has decompositions in the place of kernels."""
        return self._native.hlo(module, decomposed)

    def hlo_text(self, module: str, *, decomposed: bool = False) -> str:
        """The same as text."""
        return self._native.hlo_text(module, decomposed)

    def stablehlo(self, module: str, *, decomposed: bool = False) -> str:
        """A module as StableHLO that the ranks run as replicas."""
        return self._native.stablehlo(module, decomposed)

    def ir(self, module: str) -> str:
        """The final IR of a module, which is kept by `halite.compile(.., keep_ir=True)`."""
        text = self._native.file(f"{module}.ir")
        if text is None:
            self._native.hlo(module, False)  # Refuses a module that there is not.
            help = "compile it with `keep_ir=True`"
            raise wrong(f"the bundle does not keep the IR of `{module}`", help=help, code="E0508")
        return text.decode()

    def init(
        self,
        *,
        seed: int | None = None,
        weights: str | os.PathLike[str] | Mapping[str, ArrayLike] | None = None,
        progress: ProgressLike = None,
    ) -> Tensors:
        """The state that training starts from: weights, state of the optimizer, counters, by the names of the model.

        It is that of a seed, by default the recipe's, and depends on seed and names alone; or that of `weights`: arrays by name, or a
        checkpoint as `load_tensors` reads it, under the names of the model or of Transformers. Arrays have the shapes of the model and
        the element types of the bundle, `bf16` as `ml_dtypes.bfloat16`.

        >>> import halite
        >>> state = halite.compile("tiny").init(seed=7)
        >>> state["model.embed_tokens.weight"].shape, state["model.embed_tokens.weight"].dtype
        ((256, 64), dtype('float32'))
        """
        from .tensors import from_native, to_native

        if seed is not None and weights is not None:
            raise TypeError("a state starts from a `seed` or from `weights`, not from both")
        if seed is not None:
            seed = whole("seed", seed)
        if weights is None:
            with watched(progress, "initial state", unit="B") as tell:
                return from_native(self._native.init(seed, tell))
        if isinstance(weights, str | os.PathLike):
            return from_native(self._native.init_from_checkpoint(os.fspath(weights)))
        return from_native(self._native.init_from_weights(to_native(weights)))

    def convert(
        self,
        tensors: Mapping[str, ArrayLike],
        *,
        to: Literal["model", "bundle"] = "model",
        dtype: str | None = None,
        weights_only: bool = False,
    ) -> Tensors:
        """Tensors under the names and in the shapes that the model has them in, or as the bundle stores them.

        Either form is taken, and the names of Transformers. `dtype` (`bf16`, `f16`, `f32` or `f64`) rounds weights to nearest, ties to
        even; otherwise every bit stays, and what is `to="bundle"` has the types of the bundle, where that loses nothing. `weights_only`
        leaves out moments, master weights and counters.
        """
        from .tensors import from_native, to_native

        if to not in ("model", "bundle"):
            raise ValueError(f'`to` is {to!r}, expected "model" or "bundle"')
        if dtype not in (None, "bf16", "f16", "f32", "f64"):
            raise ValueError(f'`dtype` is {dtype!r}, expected "bf16", "f16", "f32" or "f64"')
        return from_native(self._native.convert(to_native(tensors), to == "bundle", dtype, weights_only))

    def pack(self, state: Mapping[str, ArrayLike]) -> Tensors:
        """Tensors of the model as the bundle stores them: projections that are merged as one array."""
        from .tensors import from_native, to_native

        return from_native(_native.pack(self._native, to_native(state)))

    def unpack(self, state: Mapping[str, ArrayLike]) -> Tensors:
        """What the bundle stores as tensors of the model."""
        from .tensors import from_native, to_native

        return from_native(_native.unpack(self._native, to_native(state)))

    def __repr__(self) -> str:
        manifest = self.manifest
        modules = ", ".join(module.name for module in manifest.modules)
        return f"<halite.Bundle {manifest.model.name}: {modules}; {manifest.statistics.parameters:,} parameters>"
