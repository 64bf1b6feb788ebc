"""A module of a bundle as a function of arrays over a mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax.core import ShapedArray

from .. import _native
from ..bundle import Bundle
from ..errors import wrong
from ..manifest import Module, Port
from ._call import Program, call
from ._dtypes import dtype_of
from ._layout import Layout, Placement

Kernels = Literal["call", "decompose"]


class Function:
    """A module: arrays by name in, arrays by name out.

    It is a function as JAX has them: to be called in `jax.jit`, inside other functions, on any devices of its mesh.
    """

    def __init__(self, bundle: Bundle, module: Module, layout: Layout, kernels: Kernels) -> None:
        self.module = module
        self.layout = layout
        self.inputs = {port.name: layout.place(port.shape, port.sharding) for port in module.inputs}
        self.outputs = [layout.place(port.shape, port.sharding) for port in module.outputs]
        self._program = _program(bundle, module, self.outputs, kernels)

    def __call__(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The results by name, given what the module takes; other arrays are left aside."""
        operands = [jnp.reshape(arrays[name], placement.shape) for name, placement in self.inputs.items()]
        results = self._on_mesh()(*operands)
        return {
            port.name: jnp.reshape(result, self._shape(port))
            for port, result in zip(self.module.outputs, results, strict=True)
        }

    def _shape(self, port: Port) -> tuple[int, ...]:
        """The shape of a result: that of the input which it replaces or is the gradient of, or else the whole."""
        return self.inputs[port.name].shape if port.name in self.inputs else port.shape

    def _on_mesh(self) -> Any:
        """The program of one device on all of them."""

        def on_device(*operands: Any) -> Sequence[Any]:
            local = [
                operand.reshape(self.inputs[port.name].local)
                for port, operand in zip(self.module.inputs, operands, strict=True)
            ]
            results = call(self._program, *local)
            return [result.reshape(place.part) for result, place in zip(results, self.outputs, strict=True)]

        if self.layout.ranks == 1:
            return on_device
        specs = tuple(self.inputs[port.name].spec for port in self.module.inputs)
        outs = [place.spec for place in self.outputs]
        return jax.shard_map(on_device, mesh=self.layout.mesh, in_specs=specs, out_specs=outs, check_vma=False)


def _program(bundle: Bundle, module: Module, outputs: Sequence[Placement], kernels: Kernels) -> Program:
    if kernels not in ("call", "decompose"):
        raise wrong(
            f"`kernels` is `{kernels}`, expected `call` or `decompose`",
            help='pass `kernels="call"` or `kernels="decompose"`',
        )
    decompose = kernels == "decompose"
    name = f"halite_{module.name}_{module.sha256[:16]}" + ("_decomposed" if decompose and module.kernels else "")
    return Program(
        name=name,
        text=_native.functions(bundle._native, module.name, name, decompose),
        results=tuple(
            ShapedArray(place.local, dtype_of(port.dtype))
            for port, place in zip(module.outputs, outputs, strict=True)
        ),
        kernels=() if decompose else module.kernels,
        platform=bundle.manifest.platform,
    )
