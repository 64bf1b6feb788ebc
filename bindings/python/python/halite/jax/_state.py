"""The state of a bundle as arrays over its mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from .. import _native
from ..bundle import Bundle
from .._values import whole
from ..errors import Error, wrong
from ..manifest import Buffer
from ._arrays import check
from ._dtypes import dtype_of
from ._layout import Layout, Placement

State = dict[str, jax.Array]


class States:
    """What buffers of a bundle are in JAX: weights and the state of the optimizer, by name, as a bundle stores them."""

    def __init__(self, bundle: Bundle, layout: Layout, buffers: list[Buffer]) -> None:
        self._bundle = bundle
        self._layout = layout
        self._buffers = {buffer.name: buffer for buffer in buffers}
        self._dtypes = {buffer.name: dtype_of(buffer.dtype) for buffer in buffers}
        self.placements = {buffer.name: layout.place(buffer.shape, buffer.sharding) for buffer in buffers}
        self.shardings = {name: layout.sharding(placement) for name, placement in self.placements.items()}

    def abstract(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each array: what `lower` and checkpoints are given."""
        return {name: self._abstract(name, placement) for name, placement in self.placements.items()}

    def _abstract(self, name: str, placement: Placement) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(placement.shape, self._dtypes[name], sharding=self.shardings[name])

    def init(self, seed: int | None) -> State:
        """What training starts from: each device makes its own part and nothing else."""
        if seed is None:
            seed = int(self._bundle.manifest.recipe["train"]["seed"])
        initial = _native.Initial(self._bundle._native, whole("seed", seed))
        return {name: self._initial(name, initial) for name in self._buffers}

    def _initial(self, name: str, initial: _native.Initial) -> jax.Array:
        placement = self.placements[name]

        @cache  # Devices along axes that shard nothing have the same part.
        def box(*ranges: tuple[int, int]) -> np.ndarray:
            data = initial.part(name, ranges)
            return np.frombuffer(data, self._dtypes[name]).reshape([end - start for start, end in ranges])

        def part(index: Any) -> np.ndarray:
            sizes = [len(range(*span.indices(size))) for span, size in zip(index, placement.shape, strict=True)]
            return _joined(placement.ranges(index), box).reshape(sizes)

        return jax.make_array_from_callback(placement.shape, self.shardings[name], part)

    def check(self, state: Mapping[str, Any], *, alone: bool) -> None:
        """Refuses a state that lacks an array, `alone` also one that has others; arrays that were donated or lie elsewhere."""
        if not isinstance(state, Mapping):
            kind = type(state).__name__
            raise wrong(f"the state is a `{kind}`, expected a mapping of names to arrays", help="pass what `init` makes")
        for name, placement in self.placements.items():
            if name not in state:
                raise self._lacking(name, state)
            check(name, state[name], self._dtypes[name], placement.shape)
            if isinstance(state[name], jax.Array) and not isinstance(state[name], jax.core.Tracer):
                self._check_array(name, state[name])
        extra = [name for name in state if name not in self.placements]
        if alone and extra:
            raise wrong(f"the state has the array `{extra[0]}`, which the bundle does not know", help="leave it out")

    def _lacking(self, name: str, state: Mapping[str, Any]) -> Error:
        batch = {buffer.name for buffer in self._bundle.manifest.buffers if buffer.is_batch}
        message = f"the state lacks the array `{name}`"
        if state and batch.issuperset(state):
            return wrong(message, notes=["it has the arrays of a batch"], help="pass the state first, then the batch")
        packing = self._buffers[name].packing
        if packing and any(tensor.endswith(part.name) for part in packing.parts for tensor in state):
            help = "put the tensors of the model on the devices first: `step.put_state(tensors)`"
            return wrong(message, notes=["it has tensors that the bundle stores as this one"], help=help)
        return wrong(message, help="make a state by `init` and keep all of it")

    def _check_array(self, name: str, array: jax.Array) -> None:
        if array.is_deleted():
            raise wrong(
                f"the array `{name}` of the state was donated to an earlier call",
                help="go on with the state that the call gave, or call without donation",
            )
        expected = self.shardings[name]
        if array.sharding != expected and not array.sharding.is_equivalent_to(expected, array.ndim):
            raise wrong(
                f"the array `{name}` lies as {array.sharding}, expected {expected}",
                help="put it there: `jax.device_put(state, step.shardings)`",
            )


def _joined(ranges: list[list[tuple[int, int]]], box: Callable[..., np.ndarray]) -> np.ndarray:
    """The array that has several ranges in some dimensions, from those that have one in each."""
    several = next((dim for dim, runs in enumerate(ranges) if len(runs) != 1), None)
    if several is None:
        return box(*(run for (run,) in ranges))
    parts = [_joined([*ranges[:several], [run], *ranges[several + 1 :]], box) for run in ranges[several]]
    return np.concatenate(parts, several)


def transient(buffers: list[Buffer], layout: Layout) -> dict[str, Any]:
    """What passes between the modules of one update, as it starts."""
    start = {"zeros": 0.0, "ones": 1.0}
    values = {}
    for buffer in buffers:
        shape = layout.place(buffer.shape, buffer.sharding).shape
        init = buffer.init
        value = start[init] if isinstance(init, str) else init["constant"]  # type: ignore[index]
        values[buffer.name] = jnp.full(shape, value, dtype_of(buffer.dtype))
    return values
