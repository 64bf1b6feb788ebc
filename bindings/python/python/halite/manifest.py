"""The manifest of a bundle, as data: what is in it and how to run it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from .errors import Error, wrong

__all__ = [
    "Action",
    "Buffer",
    "Digit",
    "IndexRange",
    "Launch",
    "Manifest",
    "Mesh",
    "Model",
    "Module",
    "Packing",
    "Part",
    "Port",
    "Sharding",
    "Statistics",
    "Transfer",
]


class Mesh(Mapping[str, int]):
    """The mesh of ranks: the number of ranks along each axis by its name, the major axis first. That of one rank has no axes.

    >>> mesh = Mesh([("data", 2), ("tensor", 4)])
    >>> mesh["tensor"], mesh.axis_names, mesh.size
    (4, ('data', 'tensor'), 8)
    """

    def __init__(self, axes: Iterable[tuple[str, int]] = ()) -> None:
        self._sizes = dict(axes)

    def __getitem__(self, name: str) -> int:
        if name not in self._sizes:
            known = ", ".join(f"`{axis}`" for axis in self._sizes) or "none: it is one rank"
            raise KeyError(f"the mesh has no axis `{name}`; its axes are {known}")
        return self._sizes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The axes, the major one first."""
        return tuple(self._sizes)

    @property
    def size(self) -> int:
        """The number of ranks."""
        return prod(self._sizes.values())

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={size}' for name, size in self._sizes.items())})"


@dataclass(frozen=True)
class Digit:
    """Which ranks hold an index of a dimension: those whose coordinate along a sub-axis of `axis` is `index // stride % size`.

    The sub-axes of an axis are its prime factors, the major one first; `part` counts them from 0.
    """

    axis: str
    part: int
    size: int
    stride: int


Sharding = tuple[tuple[Digit, ...], ...]
"""For each dimension the digits of its index that name the rank, the one of the largest stride first."""


def _axes(shape: tuple[int, ...], sharding: Sharding | None) -> tuple[tuple[str, ...], ...]:
    """For each dimension the names of the axes that shard it."""
    return tuple(tuple(dict.fromkeys(digit.axis for digit in digits)) for digits in sharding or ((),) * len(shape))


@dataclass(frozen=True)
class Part:
    """One tensor of a packed buffer.

    `shape` is that of the model, `[rows, ..]` or, if `transposed`, `[columns, rows]`. Each row is stored `copies` times, and
    `padding` rows of zeros follow its own.
    """

    name: str
    shape: tuple[int, ...]
    transposed: bool = False
    copies: int = 1
    padding: int = 0

    @property
    def rows(self) -> int:
        """Rows of its own."""
        return self.shape[-1 if self.transposed else 0]

    def rows_per_rank(self, ranks: int) -> int:
        """Rows in the share of one of so many ranks."""
        return (self.rows + self.padding) * self.copies // ranks


@dataclass(frozen=True)
class Packing:
    """Several tensors of the model that are stored as one of `[ranks, rows, ..]`.

    In the share of a rank the rows of the parts follow one another; the share of rank `r` has of each part the rows that begin
    at `r // copies` times those of one share.
    """

    ranks: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Buffer:
    """An array that lives on the devices from step to step, or is fed.

    `slot` is `batch`, `weight`, or the kind of state, such as `m` or `step`; `of` is the weight that state belongs to. `part` is the part
    of a pipeline that adds up a sum. `content` is a word, or `{"keys": {"streams": [..], "seed": 7}}` for keys of random bits.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    slot: str
    content: str | Mapping[str, Any] | None = None
    of: str | None = None
    init: str | Mapping[str, float] | None = None
    transient: bool = False
    sum: bool = False
    part: int | None = None
    packing: Packing | None = None
    sharding: Sharding | None = None

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """For each dimension the names of the axes of the mesh that shard it, such as `(("data",), ())`."""
        return _axes(self.shape, self.sharding)

    @property
    def is_batch(self) -> bool:
        """Whether the host feeds it."""
        return self.slot == "batch"

    @property
    def is_saved(self) -> bool:
        """Whether it is part of a saved state."""
        return not (self.is_batch or self.transient)

    @property
    def size(self) -> int:
        """Number of elements of the whole."""
        return prod(self.shape)


@dataclass(frozen=True)
class IndexRange:
    """Elements of an input that are positions: from 0 and below `below`, or else `except_`.

    Where the model makes the positions from this input and others, `computed` has the steps, and the part is one of their result.
    """

    part: tuple[tuple[int, int], ...]
    below: int
    except_: int | None = None
    computed: Any = None


@dataclass(frozen=True)
class Port:
    """An input or output of a module; `shape` is that of the whole, over all ranks.

    `role` is `buffer`, `metric`, `probe`, `gradient` or `value`, which modules pass on within an update; `alias` is the input whose memory an output takes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    sharding: Sharding | None = None
    alias: int | None = None
    ranges: tuple[IndexRange, ...] = ()

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """For each dimension the names of the axes of the mesh that shard it."""
        return _axes(self.shape, self.sharding)


@dataclass(frozen=True)
class Module:
    """One HLO module: its inputs and outputs in order, and the stage whose ranks run it."""

    name: str
    role: str
    file: str
    sha256: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    estimate: Mapping[str, Any] | None = None
    kernels: tuple[str, ...] = ()
    stage: int = 0


@dataclass(frozen=True)
class Action:
    """One thing that the ranks of a stage do in an update.

    `kind` is `run`, of the module `name`, or `send` or `receive`, of the transfer `name`. `pieces` are the pieces of the batch that it is
    done for, one after another; `None` where it is done once, and is of none.
    """

    kind: str
    name: str
    pieces: range | None = None

    def __str__(self) -> str:
        """As a manifest writes it, such as `run grad_step 0..4`."""
        words = [self.kind, self.name]
        if self.pieces is not None:
            several = f"..{self.pieces.stop}" if len(self.pieces) > 1 else ""
            words.append(f"{self.pieces.start}{several}")
        return " ".join(words)


@dataclass(frozen=True)
class Transfer:
    """Values, by name, that go from one stage to another."""

    name: str
    from_: int
    to: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Model:
    """The model: its name, the sum of its IR before all passes, its configuration."""

    name: str
    sha256: str
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Launch:
    """How ranks are launched: how many there are, and variables that must not be set."""

    world_size: int
    forbidden: tuple[str, ...]


@dataclass(frozen=True)
class Statistics:
    """Figures of the bundle."""

    parameters: int
    state_bytes: int
    tokens_per_step: int
    matmul_flops_per_token: int
    hlo_instructions: int
    peak_flops: int | None = None
    model_flops_per_token: int = 0


@dataclass(frozen=True)
class Manifest:
    """What is in a bundle and how to run it.

    `schedule` has what the ranks of each stage do in an update, in order, one list for each stage: one where there is no pipeline, none
    where the bundle makes no updates.
    """

    version: int
    model: Model
    recipe: Mapping[str, Any]
    buffers: tuple[Buffer, ...]
    modules: tuple[Module, ...]
    schedule: tuple[tuple[Action, ...], ...]
    rounding: Mapping[str, Any]
    environment: Mapping[str, str]
    flags: tuple[str, ...]
    statistics: Statistics
    mesh: Mesh = field(default_factory=Mesh)
    roles: Mapping[str, tuple[tuple[Action, ...], ...]] = field(default_factory=dict)
    transfers: tuple[Transfer, ...] = ()
    launch: Launch | None = None
    platform: str | None = None
    json: str = field(default="", repr=False)

    @property
    def ranks(self) -> int:
        """Number of ranks of a stage, which run each of its modules together."""
        return self.mesh.size

    @property
    def target(self) -> str:
        """What it was compiled for."""
        return str(self.recipe["target"])

    @property
    def micro_batches(self) -> int:
        """Number of micro-batches of one update: the batch that is fed holds them one after another."""
        fed = {buffer.name: buffer.shape[0] for buffer in self.buffers if buffer.is_batch and not buffer.content}
        calls = [(port, self.pieces(module)) for module in self.modules for port in module.inputs if port.name in fed]
        return max((port.shape[0] // fed[port.name] * pieces for port, pieces in calls if pieces), default=1)

    def pieces(self, module: Module) -> int:
        """Number of pieces of the batch that an update calls a module for; 0 where it calls it for none."""
        runs = [action for actions in self.schedule for action in actions if action.kind == "run"]
        return max((run.pieces.stop for run in runs if run.name == module.name and run.pieces), default=0)

    def module(self, role: str) -> Module | None:
        """The module of a role, if there is one."""
        return next((module for module in self.modules if module.role == role), None)


VERSION = 4
"""The version of manifests that this package reads."""


def parse(text: str) -> Manifest:
    """The manifest that a text of JSON is, such as `manifest.json` in the folder of a bundle.

    Raises `halite.Error` where it is of another version or does not follow the schema. It is not compared with the files of the
    bundle, as `Bundle.read` does.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise _no_manifest(f"the manifest is no JSON: {error}") from None
    version = raw.get("version") if isinstance(raw, dict) else None
    if version != VERSION:
        help = "compile the bundle again with this version of Halite, or install the one that wrote it"
        raise wrong(f"the manifest is of version {version!r}, expected {VERSION}", help=help, code="E0102")
    try:
        return _manifest(raw, text)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _no_manifest(f"the manifest does not follow the schema: {error}") from None


def _no_manifest(message: str) -> Error:
    return wrong(message, help="give the text of `manifest.json`, or compile the bundle again", code="E0502")


def _manifest(raw: Any, text: str) -> Manifest:
    launch = raw.get("launch")
    mesh = Mesh(_axis(**axis) for axis in raw.get("mesh", ()))
    sub_axes = [(name, part) for name, size in mesh.items() for part in range(_prime_factors(size))]
    buffers = tuple(_buffer(buffer, sub_axes) for buffer in raw["buffers"])
    by_name = {buffer.name: buffer for buffer in buffers}
    typed: dict[str, Any] = {
        "model": Model(**raw["model"]),
        "mesh": mesh,
        "buffers": buffers,
        "modules": tuple(_module(module, sub_axes, by_name) for module in raw["modules"]),
        "schedule": _actions(raw["schedule"]),
        "roles": {role: _actions(lists) for role, lists in raw.get("roles", {}).items()},
        "transfers": tuple(_transfer(transfer) for transfer in raw.get("transfers", ())),
        "flags": tuple(raw["flags"]),
        "launch": launch and Launch(**{**launch, "forbidden": tuple(launch["forbidden"])}),
        "statistics": Statistics(**raw["statistics"]),
    }
    return Manifest(**{**raw, **typed}, json=text)


_ACTION = re.compile(r"(run|send|receive) (\S+)(?: (\d+)(?:\.\.(\d+))?)?", re.ASCII)


def _actions(raw: Any) -> tuple[tuple[Action, ...], ...]:
    return tuple(tuple(_action(text) for text in actions) for actions in raw)


def _action(text: str) -> Action:
    found = _ACTION.fullmatch(text)
    if not found:
        raise ValueError(f"`{text}` is no action of a schedule")
    kind, name, start, end = found.groups()
    if start is None:
        return Action(kind, name)
    return Action(kind, name, range(int(start), int(end or int(start) + 1)))


def _transfer(raw: Any) -> Transfer:
    named = {"from_" if key == "from" else key: value for key, value in raw.items()}
    return Transfer(**{**named, "values": tuple(raw["values"])})


def _axis(name: str, size: int) -> tuple[str, int]:
    return name, size


def _prime_factors(number: int) -> int:
    """How many prime factors a number has."""
    count, candidate = 0, 2
    while number > 1:
        while number % candidate == 0:
            count, number = count + 1, number // candidate
        candidate += 1
    return count


SubAxes = list[tuple[str, int]]
"""The sub-axes of a mesh, which a manifest numbers: the name of the axis, and which of its parts."""


def _sharding(raw: Any, sub_axes: SubAxes) -> Sharding | None:
    def digit(sub_axis: int, size: int, stride: int) -> Digit:
        return Digit(*sub_axes[sub_axis], size, stride)

    return raw and tuple(tuple(digit(*each) for each in digits) for digits in raw)


def _buffer(raw: Any, sub_axes: SubAxes) -> Buffer:
    packing = raw.get("packing")
    if packing:
        parts = tuple(Part(**{**part, "shape": tuple(part["shape"])}) for part in packing["parts"])
        packing = Packing(**{**packing, "parts": parts})
    sharding = _sharding(raw.get("sharding"), sub_axes)
    return Buffer(**{**raw, "shape": tuple(raw["shape"]), "packing": packing, "sharding": sharding})


def _port(raw: Any, sub_axes: SubAxes, buffers: Mapping[str, Buffer]) -> Port:
    if isinstance(raw, str):
        # It is its buffer.
        buffer = buffers[raw]
        return Port(name=raw, dtype=buffer.dtype, shape=buffer.shape, role="buffer", sharding=buffer.sharding)
    ranges = tuple(_range(part) for part in raw.get("ranges", ()))
    sharding = _sharding(raw.get("sharding"), sub_axes)
    return Port(**{**raw, "shape": tuple(raw["shape"]), "sharding": sharding, "ranges": ranges})


def _range(raw: Any) -> IndexRange:
    named = {"except_" if key == "except" else key: value for key, value in raw.items()}
    return IndexRange(**{**named, "part": tuple((start, end) for start, end in raw["part"])})


def _module(raw: Any, sub_axes: SubAxes, buffers: Mapping[str, Buffer]) -> Module:
    raw = dict(raw)
    kernels = tuple(kernel["name"] for kernel in raw.pop("decompositions", ()))
    inputs = tuple(_port(port, sub_axes, buffers) for port in raw["inputs"])
    names = [port.name for port in inputs]

    def output(port: Any) -> Port:
        found = _port(port, sub_axes, buffers)
        return replace(found, alias=names.index(port)) if isinstance(port, str) else found

    outputs = tuple(output(port) for port in raw["outputs"])
    return Module(**{**raw, "inputs": inputs, "outputs": outputs, "kernels": kernels})
