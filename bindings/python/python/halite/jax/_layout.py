"""Where arrays lie: the mesh of a manifest as a mesh of JAX, and shardings as `NamedSharding`s.

Halite shards an index by digits, `index // stride % size`. Where the digits of a dimension are not its leading ones, the
dimension is several in JAX: an array of `[6]` whose digit has the size 2 and the stride 1 is one of `[3, 2]`, sharded along
the second. Reshaped, it is the array of the manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..errors import wrong
from ..manifest import Digit, Manifest, Sharding
from ..manifest import Mesh as Ranks


@dataclass(frozen=True)
class Placement:
    """An array over a mesh.

    `whole` is its shape in the manifest and `shape` the same in dimensions that JAX shards, by `spec`; `local` and `part` are
    these of what one device has.
    """

    whole: tuple[int, ...]
    shape: tuple[int, ...]
    spec: PartitionSpec
    local: tuple[int, ...]
    part: tuple[int, ...]
    split: tuple[tuple[int, ...], ...]

    def ranges(self, index: Sequence[slice]) -> list[list[tuple[int, int]]]:
        """A part in JAX's dimensions as ranges of each dimension of the whole."""
        spans = [span.indices(size)[:2] for span, size in zip(index, self.shape, strict=True)]
        ranges = []
        for sizes in self.split:
            ranges.append(_runs(sizes, spans[: len(sizes)]))
            spans = spans[len(sizes) :]
        return ranges


class Layout:
    """The mesh of a manifest on devices."""

    def __init__(self, manifest: Manifest, mesh: Mesh | None) -> None:
        self.axes = _joined(manifest)
        self.ranks = manifest.ranks
        self.mesh = _mesh(manifest.mesh, self.axes.values(), mesh)

    def place(self, shape: Sequence[int], sharding: Sharding | None) -> Placement:
        """How an array of this shape lies."""
        digits_of = sharding or ((),) * len(shape)
        dims = [self._split(size, digits) for size, digits in zip(shape, digits_of, strict=True)]
        split = [part for dim in dims for part in dim]
        sizes = dict(self.axes.values())
        return Placement(
            whole=tuple(shape),
            shape=tuple(size for size, _ in split),
            spec=_spec([names for _, names in split]),
            local=tuple(
                size // prod(digit.size for digit in digits) for size, digits in zip(shape, digits_of, strict=True)
            ),
            part=tuple(size // prod(sizes[name] for name in names or ()) for size, names in split),
            split=tuple(tuple(size for size, _ in dim) for dim in dims),
        )

    def sharding(self, placement: Placement) -> NamedSharding:
        """The same for JAX."""
        return NamedSharding(self.mesh, placement.spec)

    def _split(self, size: int, digits: Sequence[Digit]) -> list[tuple[int, tuple[str, ...] | None]]:
        """A dimension as those that JAX can shard, with the axes along which each is."""
        dims: list[tuple[int, tuple[str, ...] | None]] = []
        rest = size
        for block in _blocks(digits):
            count = prod(digit.size for digit in block)
            gap = rest // (count * block[-1].stride)
            if dims:
                dims[-1] = (dims[-1][0] * gap, dims[-1][1])
            elif gap > 1:
                dims.append((gap, None))
            dims.append((count, self._names(block)))
            rest = block[-1].stride
        if not dims:
            return [(size, None)]
        dims[-1] = (dims[-1][0] * rest, dims[-1][1])
        return dims

    def _names(self, block: Iterable[Digit]) -> tuple[str, ...]:
        names: list[str] = []
        for digit in block:
            name = self.axes[digit.axis, digit.part][0]
            if not names or names[-1] != name:
                names.append(name)
        return tuple(names)


def _spec(dims: Sequence[tuple[str, ...] | None]) -> PartitionSpec:
    """As JAX writes the shardings of results, so that they are equal to those of arguments."""
    last = max((at + 1 for at, names in enumerate(dims) if names), default=0)
    return PartitionSpec(*(names[0] if names and len(names) == 1 else names for names in dims[:last]))


def _runs(sizes: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges of an index whose digits, of these sizes and major first, are in these spans."""
    starts = [0]
    for size, (start, end) in zip(sizes[:-1], spans[:-1], strict=True):
        starts = [above * size + digit for above in starts for digit in range(start, end)]
    start, end = spans[-1]
    runs: list[tuple[int, int]] = []
    for above in starts:
        run = (above * sizes[-1] + start, above * sizes[-1] + end)
        if runs and runs[-1][1] == run[0]:
            runs[-1] = (runs[-1][0], run[1])
        else:
            runs.append(run)
    return runs


def _blocks(digits: Sequence[Digit]) -> list[list[Digit]]:
    """Digits that follow one another without a gap."""
    blocks: list[list[Digit]] = []
    for digit in digits:
        if blocks and blocks[-1][-1].stride == digit.size * digit.stride:
            blocks[-1].append(digit)
        else:
            blocks.append([digit])
    return blocks


SubAxis = tuple[str, int]
"""An axis of the mesh by its name, and which of its prime factors."""


def _sub_axes(mesh: Ranks) -> dict[SubAxis, int]:
    """The sizes of the sub-axes of a mesh, in order."""
    return {(name, part): prime for name, size in mesh.items() for part, prime in enumerate(_primes(size))}


def _primes(number: int) -> Iterable[int]:
    candidate = 2
    while number > 1:
        while number % candidate == 0:
            yield candidate
            number //= candidate
        candidate += 1


def _joined(manifest: Manifest) -> dict[SubAxis, tuple[str, int]]:
    """Of each sub-axis, the name and size of the axis of JAX that it is part of.

    An axis is one in JAX where all arrays are sharded along the whole of it, major part first; else it is several, such as
    `tensor_0` and `tensor_1`.
    """
    sub_axes = _sub_axes(manifest.mesh)
    apart = set()
    ports = [port for module in manifest.modules for port in (*module.inputs, *module.outputs)]
    shardings = {buffer.sharding for buffer in manifest.buffers} | {port.sharding for port in ports}
    for sharding in shardings - {None}:
        for digits in sharding or ():
            apart |= {axis for axis in manifest.mesh if not _whole(axis, digits, sub_axes)}
    return {
        (axis, part): (f"{axis}_{part}", size) if axis in apart else (axis, manifest.mesh[axis])
        for (axis, part), size in sub_axes.items()
    }


def _whole(axis: str, digits: Sequence[Digit], sub_axes: Iterable[SubAxis]) -> bool:
    """Whether a dimension is sharded along the whole of an axis, in order and in one block, or not along it at all."""
    own = [part for other, part in sub_axes if other == axis]
    blocks = [[digit.part for digit in block if digit.axis == axis] for block in _blocks(digits)]
    return all(block in ([], own) for block in blocks)


def _mesh(axes: Ranks, names: Iterable[tuple[str, int]], given: Mesh | None) -> Mesh:
    """A mesh of JAX: on the devices of the one that is given, or on the first there are."""
    ranks = axes.size
    parts = list(dict.fromkeys(names)) or [("rank", 1)]
    if given is None:
        found = jax.devices()
        if len(found) < ranks:
            raise wrong(
                f"the bundle is for {ranks} ranks, and JAX has {len(found)} devices",
                help="run it on as many devices, or compile it for fewer: `parallel={...}`",
            )
        devices = np.array(found[:ranks])
    else:
        expected = list(axes.items())
        if [(name, size) for name, size in given.shape.items() if size > 1] != expected:
            raise wrong(
                f"the mesh has the axes {dict(given.shape)}, the bundle was compiled for {dict(expected) or 'one rank'}",
                help="make a mesh of these axes in this order, or compile the bundle with another `parallel`",
            )
        devices = given.devices
    return Mesh(devices.reshape([size for _, size in parts]), [name for name, _ in parts])
