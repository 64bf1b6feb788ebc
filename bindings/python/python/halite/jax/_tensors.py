"""The tensors of a model as arrays over a mesh: what is the same on every layout.

A bundle stores some of them as one array, in an order that its mesh calls for, with copies and padding. As the model has
them, a checkpoint of one layout is one of any other. Data is moved on the devices, one array of the state after another; no
device has more of a tensor than the moves themselves take. Each is waited for, so that what they take is that of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..bundle import Bundle
from ..errors import wrong
from ..manifest import Buffer, Packing, Part
from ._arrays import put
from ._dtypes import dtype_of
from ._jit import exact_options
from ._layout import Layout, Placement

State = dict[str, jax.Array]


@dataclass(frozen=True)
class Lying:
    """How an array of the state lies, and how the tensors that it stores do: equal for the same weight of every layer."""

    whole: tuple[int, ...]
    shape: tuple[int, ...]
    packing: Packing | None
    mesh: Mesh
    stored: NamedSharding
    tensors: tuple[NamedSharding, ...]


class ModelTensors:
    """The tensors of the model that arrays of a state store, by the names that the model has for them."""

    def __init__(self, bundle: Bundle, layout: Layout, placements: Mapping[str, Placement]) -> None:
        buffers = {buffer.name: buffer for buffer in bundle.manifest.buffers}
        self._known = {tensor for buffer in buffers.values() if buffer.is_saved for tensor in _names(buffer)}
        self._names = {name: _names(buffers[name]) for name in placements}
        self._lying = {name: _lying(layout, buffers[name], placement) for name, placement in placements.items()}
        self._dtypes = {name: dtype_of(buffers[name].dtype) for name in placements}

    def abstract(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each tensor."""
        return {
            tensor: jax.ShapeDtypeStruct(shape, self._dtypes[name], sharding=sharding)
            for name, lying in self._lying.items()
            for tensor, shape, sharding in zip(self._names[name], _shapes(lying), lying.tensors, strict=True)
        }

    def of_state(self, state: Mapping[str, jax.Array]) -> State:
        """The tensors in a state; of copies the first."""
        # Programs in flight together can wait for one another for ever where devices are threads of one CPU.
        jax.block_until_ready(dict(state))
        found: State = {}
        for name, lying in self._lying.items():
            tensors = jax.block_until_ready(_unpacking(lying)(state[name]))
            found |= zip(self._names[name], tensors, strict=True)
        return found

    def to_state(self, tensors: Mapping[str, Any]) -> State:
        """A state of the tensors, which are arrays of JAX or, whole in each process, of NumPy."""
        if not isinstance(tensors, Mapping):
            kind = type(tensors).__name__
            raise wrong(f"the tensors are a `{kind}`, expected a mapping of names to arrays", help="pass what `Bundle.init` gives")
        unknown = [name for name in tensors if name not in self._known]
        if unknown:
            raise wrong(f"the bundle has no tensor `{unknown[0]}`", help="remove it, or take the bundle of its model")
        abstract = self.abstract()
        for name, expected in abstract.items():
            _check(name, tensors, expected)
        state: State = {}
        for name, lying in self._lying.items():
            parts = [_spread(tensors[part], abstract[part].sharding) for part in self._names[name]]
            state[name] = jax.block_until_ready(_packing(lying)(*parts))
        return state


def _check(name: str, tensors: Mapping[str, Any], expected: jax.ShapeDtypeStruct) -> None:
    described = f"`{expected.dtype}` of {list(expected.shape)}"
    if name not in tensors:
        help = f"give it as {described}, and all others of the state; from weights alone `Bundle.init(weights=..)` makes them"
        raise wrong(f"the tensor `{name}` is missing", help=help)
    found = tensors[name]
    if (jnp.shape(found), jnp.result_type(found)) != (expected.shape, expected.dtype):
        raise wrong(
            f"the tensor `{name}` is `{jnp.result_type(found)}` of {list(jnp.shape(found))}, expected {described}",
            help="convert or reshape it: shapes are those of the model, over all devices",
        )


def _spread(tensor: Any, sharding: NamedSharding) -> jax.Array:
    if isinstance(tensor, jax.Array):
        spread: jax.Array = jax.device_put(tensor, sharding)
        return spread
    return put(tensor, sharding)


def _names(buffer: Buffer) -> list[str]:
    if buffer.packing is None:
        return [buffer.name]
    slot = buffer.name.removesuffix(buffer.of) if buffer.of else ""
    return [slot + part.name for part in buffer.packing.parts]


def _lying(layout: Layout, buffer: Buffer, placement: Placement) -> Lying:
    packing = buffer.packing
    if packing:
        packing = replace(packing, parts=tuple(replace(part, name="") for part in packing.parts))
    first = [axis for names in placement.spec for axis in ([names] if isinstance(names, str) else names or ())]
    axes = {axis: layout.mesh.shape[axis] for axis in [*first, *layout.mesh.axis_names]}
    lying = Lying(placement.whole, placement.shape, packing, layout.mesh, layout.sharding(placement), ())
    specs = [_spec(shape, dim, axes) for shape, dim in zip(_shapes(lying), _sharded(buffer), strict=True)]
    return replace(lying, tensors=tuple(NamedSharding(layout.mesh, spec) for spec in specs))


def _sharded(buffer: Buffer) -> list[int]:
    """For each tensor the dimension whose parts lie on different devices already, so that sharding it further moves least."""
    if buffer.packing:
        return [len(part.shape) - 1 if part.transposed else 0 for part in buffer.packing.parts]
    return [next((dim for dim, digits in enumerate(buffer.sharding or ()) if digits), 0)]


def _spec(shape: tuple[int, ...], first: int, axes: Mapping[str, int]) -> PartitionSpec:
    """The most axes that share out a dimension evenly, and that dimension, `first` before others."""
    names = list(axes)
    for count in range(len(names), 0, -1):
        parts = prod(axes[name] for name in names[:count])
        for dim in sorted(range(len(shape)), key=lambda dim: dim != first):
            if shape[dim] % parts == 0:
                return PartitionSpec(*[None] * dim, tuple(names[:count]))
    return PartitionSpec()


def _shapes(lying: Lying) -> list[tuple[int, ...]]:
    return [part.shape for part in lying.packing.parts] if lying.packing else [lying.whole]


@cache
def _unpacking(lying: Lying) -> Any:
    def unpack(array: jax.Array) -> list[jax.Array]:
        stored = array.reshape(lying.whole)
        return list(_parts(lying.packing, stored)) if lying.packing else [stored]

    return jax.jit(unpack, out_shardings=list(lying.tensors), compiler_options=exact_options(lying.mesh))


@cache
def _packing(lying: Lying) -> Any:
    def pack(*tensors: jax.Array) -> jax.Array:
        if lying.packing:
            shares = [_shares(lying.packing, *each) for each in zip(lying.packing.parts, tensors, strict=True)]
            return jnp.concatenate(shares, axis=1).reshape(lying.shape)
        return tensors[0].reshape(lying.shape)

    return jax.jit(pack, out_shardings=lying.stored, compiler_options=exact_options(lying.mesh))


def _parts(packing: Packing, stored: jax.Array) -> Iterator[jax.Array]:
    start = 0
    for part in packing.parts:
        end = start + part.rows_per_rank(packing.ranks)
        own = stored[:: part.copies, start:end]
        rows = own.reshape(-1, *stored.shape[2:])[: part.rows]
        yield rows.T if part.transposed else rows
        start = end


def _shares(packing: Packing, part: Part, tensor: jax.Array) -> jax.Array:
    rows = tensor.T if part.transposed else tensor
    padded = jnp.pad(rows, [(0, part.padding), *[(0, 0)] * (rows.ndim - 1)])
    once = padded.reshape(-1, part.rows_per_rank(packing.ranks), *rows.shape[1:])
    return jnp.repeat(once, part.copies, axis=0)
