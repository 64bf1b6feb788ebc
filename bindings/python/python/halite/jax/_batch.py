"""Batches: what the host feeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from .. import _native
from ..bundle import Bundle
from ..errors import wrong
from ..manifest import Buffer
from ..tensors import to_native
from ._arrays import check, put
from ._dtypes import dtype_of
from ._layout import Layout

Batch = Mapping[str, Any]


class Batches:
    """The batch of a function: arrays by name, whole, the same number of micro-batches of each, one after another."""

    def __init__(self, bundle: Bundle, layout: Layout, buffers: list[Buffer], micro_batches: int) -> None:
        self._bundle = bundle
        self._layout = layout
        self._fed = {buffer.name: buffer for buffer in buffers if buffer.content is None}
        self._declared = [buffer for buffer in buffers if buffer.content is not None]
        self._count = micro_batches

    def abstract(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each array: what `lower` is given."""
        return {
            name: jax.ShapeDtypeStruct(self._shape(buffer), dtype_of(buffer.dtype), sharding=self._sharding(buffer))
            for name, buffer in self._fed.items()
        }

    def put(self, batch: Any) -> dict[str, jax.Array]:
        """A batch on the devices; each process gives the whole and keeps its part.

        Whole numbers of another type, and lists of them, are taken where the model's type holds each of them.
        """
        given = {name: _fitting(array, self._fed.get(name)) for name, array in self._mapping(batch).items()}
        return {name: put(array, self._sharding(self._fed[name])) for name, array in self.named(given).items()}

    def named(self, batch: Any) -> dict[str, Any]:
        """The arrays by name; where there is one, it may come without a name. Refuses what does not fit."""
        batch = self._mapping(batch)
        known = self._fed
        for name in [*known, *batch]:
            if name not in known:
                raise wrong(
                    f"the batch has the array `{name}`, which the model does not take",
                    help=f"pass these arrays: {', '.join(known)}",
                )
            if name not in batch:
                raise wrong(f"the batch lacks the array `{name}`", help=f"pass it as {self._described(known[name])}")
            check(name, batch[name], dtype_of(known[name].dtype), self._shape(known[name]))
        return dict(batch)

    def _mapping(self, batch: Any) -> Mapping[str, Any]:
        if isinstance(batch, Mapping):
            return batch
        if len(self._fed) != 1:
            names = ", ".join(f"`{name}`" for name in self._fed)
            raise wrong("the batch is one array", help=f"pass a mapping of the names {names} to arrays")
        return dict.fromkeys(self._fed, batch)

    def _described(self, buffer: Buffer) -> str:
        return f"`{dtype_of(buffer.dtype)}` of {list(self._shape(buffer))}"

    def check_numbers(self, module: str, batch: Mapping[str, Any]) -> None:
        """Refuses numbers that the model takes for positions and that are out of their range."""
        whole = {name: np.asarray(array) for name, array in batch.items()}
        _native.check_numbers(self._bundle._native, module, to_native(whole))

    def declared(self, piece: int = 0) -> dict[str, Any]:
        """The inputs whose content the model declares, for a call on a piece of the batch."""
        return {buffer.name: self._content(buffer, piece) for buffer in self._declared}

    def _content(self, buffer: Buffer, piece: int) -> Any:
        dtype = dtype_of(buffer.dtype)
        if buffer.content == "micro-batch":
            return jnp.asarray(piece, dtype)
        if buffer.content == "ranks":
            return jnp.arange(buffer.size, dtype=dtype).reshape(buffer.shape)
        rows, columns = buffer.shape[-2:]
        causal = jnp.arange(columns) <= jnp.arange(rows)[:, None]
        return jnp.broadcast_to(causal, buffer.shape).astype(dtype)

    def _shape(self, buffer: Buffer) -> tuple[int, ...]:
        first, *rest = buffer.shape
        return (first * self._count, *rest)

    def _sharding(self, buffer: Buffer) -> NamedSharding:
        """As the program takes it, where that is what JAX can say of the whole; else the whole on each device."""
        placement = self._layout.place(buffer.shape, buffer.sharding)
        if self._count == 1 and placement.shape == placement.whole:
            return self._layout.sharding(placement)
        return NamedSharding(self._layout.mesh, PartitionSpec())


def _fitting(array: Any, buffer: Buffer | None) -> Any:
    """The same numbers in the type of a buffer, where they are whole numbers that it holds; else what it was."""
    if buffer is None or isinstance(array, jax.Array):
        return array
    found, expected = np.asarray(array), dtype_of(buffer.dtype)
    if found.dtype == expected or found.dtype.kind not in "iu" or expected.kind not in "iu":
        return found
    limits = np.iinfo(expected)
    fits = found.size == 0 or (limits.min <= found.min() and found.max() <= limits.max)
    return found.astype(expected) if fits else found
