"""Models that are functions of JAX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from ..errors import wrong
from ..initial import Init, constant, normal, ones, zeros
from ..program import Input, Output, Program
from ._gradients import lowered, programs

RANDOM = frozenset({"random_bits", "threefry2x32", "rng_bit_generator", "rng_uniform"})
"""The primitives that draw random numbers."""

ABSTRACT = normal(0.02)
"""How an abstract weight starts, which has no values."""


class Model(Program):
    """A function of JAX as a model: what `halite.compile` and `halite.train` take.

    `weights` and `params` go from the pytree of the function's parameters to tensors by name, and back.
    """

    def __init__(self, text: str, inputs: list[Input], outputs: list[Output], tree: Any, **named: Any) -> None:
        super().__init__(text, inputs, outputs, **named)
        self._tree = tree
        self._names = [item.name for item in inputs if item.role != "batch"]

    def weights(self, params: Any) -> dict[str, np.ndarray]:
        """The leaves of a pytree of parameters by their names, as arrays of NumPy; of a stack of layers, each row by its own.

        Floats of several types are given in the widest.
        """
        leaves, stacks = self._leaves(params), self.stacks
        stored, own = _stored(params)
        arrays = [np.asarray(leaf) for leaf in leaves]
        if stored is not own:
            arrays = [array.astype(item.dtype) for array, item in zip(arrays, jax.tree.leaves(stored), strict=True)]
        weights: dict[str, np.ndarray] = {}
        for name, leaf in zip(self._names, arrays, strict=True):
            weights.update(zip(stacks[name], leaf, strict=True) if name in stacks else {name: leaf}.items())
        return weights

    def params(self, tensors: Mapping[str, Any]) -> Any:
        """The pytree of parameters that tensors by name are; what else is among the tensors is left out."""
        stacks = self.stacks
        missing = [own for name in self._names for own in stacks.get(name, [name]) if own not in tensors]
        if missing:
            raise wrong(f"the weight `{missing[0]}` is not among the tensors", help="give all weights of the model")
        leaves = [_stacked([tensors[own] for own in stacks[name]]) if name in stacks else tensors[name] for name in self._names]
        return jax.tree_util.tree_unflatten(self._tree, leaves)

    def place(self, params: Any, axis: str = "tensor") -> dict[str, list[str]]:
        """Which dimensions of parameters lie along an axis of their mesh of JAX, for `parallel.place` of a recipe.

        The leaves are arrays or `jax.ShapeDtypeStruct`, with a `NamedSharding` where they are sharded. Halite shards by its own rules along its
        other axes, and along `tensor` whatever is not named. Of a stack of layers, each row lies as the stack does.

        `halite.compile(model, parallel={"tensor": 4, "place": model.place(params, "model")})`
        """
        leaves, stacks = self._leaves(params), self.stacks
        shardings = [getattr(leaf, "sharding", None) for leaf in leaves]
        known = {name for sharding in shardings if isinstance(sharding, NamedSharding) for name in sharding.mesh.axis_names}
        if axis not in known:
            found = f"their axes are {sorted(known)}" if known else "none has a `NamedSharding`"
            raise wrong(f"no parameter is on a mesh with an axis `{axis}`: {found}", help="name the axis of the mesh that tensor parallelism uses")
        places: dict[str, list[str]] = {}
        for name, leaf, sharding in zip(self._names, leaves, shardings, strict=True):
            dims = ["tensor" if named else "" for named in _along(sharding, axis, np.ndim(leaf))]
            if name not in stacks:
                places[name] = dims
            elif dims[0]:
                raise wrong(f"`{name}` is sharded along `{axis}` by its layers", help="shard a dimension of the layers, or use `parallel.pipeline`")
            else:
                places.update((own, dims[1:]) for own in stacks[name])
        return {name: dims for name, dims in places.items() if any(dims)}

    def _leaves(self, params: Any) -> list[Any]:
        """The leaves of a pytree of parameters, which must be that of the function."""
        leaves, tree = jax.tree_util.tree_flatten(params)
        if tree != self._tree:
            raise wrong(f"the parameters are `{tree}`, those of the model `{self._tree}`", help="give the same pytree")
        return leaves


def _along(sharding: Any, axis: str, rank: int) -> list[bool]:
    """For each dimension whether it lies along an axis."""
    spec = tuple(sharding.spec) if isinstance(sharding, NamedSharding) else ()
    parts = [part if isinstance(part, tuple) else (part,) for part in spec]
    return [axis in part for part in parts] + [False] * (rank - len(parts))


def _stacked(rows: list[Any]) -> Any:
    """Rows as one array, of JAX where they are."""
    return jnp.stack(rows) if any(isinstance(row, jax.Array) for row in rows) else np.stack(rows)


def model(
    loss: Callable[[Any, Any], Any],
    params: Any,
    batch: Any,
    *,
    outputs: Callable[[Any, Any], Mapping[str, Any]] | None = None,
    name: str = "model",
    causal: bool = False,
) -> Model:
    """A function of JAX as a model that Halite trains: it differentiates and optimizes the function itself.

    `loss(params, batch)` returns a scalar, the mean over the batch, or a pair of scalars: a sum and the number of elements that it sums
    over. Labels that count unevenly over micro-batches need the pair. `outputs(params, batch)` returns a mapping of values that the model
    shows, such as logits. `params` and `batch` are pytrees of arrays, or of `jax.ShapeDtypeStruct`; their leaves are named by their paths,
    `params["layers"][0]["w"]` as `layers.0.w`. A weight starts as the array does, where no state is given: with zeros, ones, another
    constant, or normal samples of its standard deviation. With `causal`, the model is held to reading no later positions.

    >>> import halite, halite.jax, jax.numpy as jnp
    >>> def loss(params, batch):
    ...     return jnp.mean((batch["x"] @ params["w"] - batch["y"]) ** 2)
    >>> batch = {"x": jnp.ones((8, 4)), "y": jnp.ones((8, 2))}
    >>> model = halite.jax.model(loss, {"w": jnp.ones((4, 2))}, batch)
    >>> halite.compile(model, roles=["train_step"])
    <halite.Bundle model: train_step; 8 parameters>

    Random numbers that do not follow from the batch are refused: they would be the same in each update. A loop over layers, `jax.lax.scan`
    over arrays of a row for each, makes weights of rows: `layers.w` becomes `layers.0.w`, `layers.1.w`, which `stacks` of the model lists.
    No gradient goes through `jax.lax.stop_gradient`, and rules for gradients hold, by `jax.custom_vjp` or `jax.custom_jvp`. Parameters of
    several float types are stored in the widest, and narrowed where they are read.
    """
    weights, tree = jax.tree_util.tree_flatten(params)
    inputs = [Input(named, "weight", start) for named, start in zip(_names(params, "params", lists=True), _starts(weights), strict=True)]
    data = [Input(named, "batch") for named in _names(batch, "batch", lists=False)]
    inputs += data
    _check_names(inputs)
    results: list[Output] = []
    stored, own = _stored(params)

    def traced(params: Any, batch: Any) -> list[Any]:
        params = jax.tree.map(lambda leaf, own: leaf if leaf.dtype == own.dtype else leaf.astype(own.dtype), params, own)
        found = _objective(loss(params, batch))
        results[:] = [Output("loss", "loss"), Output("count", "count")][: len(found)]
        if outputs is not None:
            shown = outputs(params, batch)
            if not isinstance(shown, Mapping):
                raise wrong(f"`outputs` returns a `{type(shown).__name__}`", help='return a mapping: `{"logits": logits}`')
            results.extend(Output(str(key)) for key in shown)
            found += list(shown.values())
        return found

    found = jax.jit(traced, keep_unused=True).trace(stored, batch)
    if _draws(found.jaxpr.jaxpr, [False] * len(weights) + [True] * len(data)):
        raise wrong(
            "the function draws random numbers that do not follow from the batch: they would be the same in each update",
            help="leave dropout out, as in an evaluation, or take the key from the batch",
        )
    return Model(lowered(found).as_text(debug_info=True), inputs, results, tree, name=name, causal=causal)


def _stored(params: Any) -> tuple[Any, Any]:
    """Parameters as they are stored, with floats of one type, the widest among them, and as the function takes them; both abstract."""
    own = jax.eval_shape(lambda params: params, params)
    floats = {leaf.dtype for leaf in jax.tree.leaves(own) if jnp.issubdtype(leaf.dtype, jnp.floating)}
    if len(floats) < 2:
        return own, own
    widest = reduce(jnp.promote_types, floats)
    narrow = floats - {widest}
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, widest) if leaf.dtype in narrow else leaf, own), own


def _objective(found: Any) -> list[Any]:
    """The loss, or the loss and its count."""
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    if len(results) not in (1, 2) or any(getattr(result, "shape", ()) != () for result in results):
        shapes = [getattr(result, "shape", type(result).__name__) for result in results]
        raise wrong(
            f"`loss` returns {len(results)} values of shapes {shapes}",
            help="return a scalar, or two: a sum and the number of elements that it sums over",
        )
    return results


def _draws(program: Any, varies: Sequence[bool]) -> bool:
    """Whether a program of JAX draws random numbers that do not follow from what `varies` among its inputs."""
    known = dict(zip(program.invars, varies, strict=True))
    for equation in program.eqns:
        given = [not hasattr(value, "val") and known.get(value, False) for value in equation.invars]
        if equation.primitive.name in RANDOM and not any(given):
            return True
        for inner in programs(equation.params.values()):
            count = len(inner.invars)
            if _draws(inner, given[-count:] if count <= len(given) else [any(given)] * count):
                return True
        known.update(dict.fromkeys(equation.outvars, any(given)))
    return False


def _names(tree: Any, alone: str, *, lists: bool) -> list[str]:
    """The names of leaves, by their paths: of letters, digits, `_` and dots, one of them between parts. Haiku's keys are paths: `layer_1/~/linear`.

    With `lists`, keys of mappings that are a list in all but their spelling are one: `layers_0` and `layers_1`, or modules `layer` and
    `layer_1`. They are numbered without a gap, and have the same structure and shapes.
    """
    leaves = [(_parts(path), np.shape(leaf)) for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]]
    numbered = _numbered(leaves) if lists else {}
    names = []
    for parts, _ in leaves:
        spelled = [part for at in range(len(parts)) for part in numbered.get(parts[: at + 1], (re.sub(r"[^\w.]", "_", parts[at][0], flags=re.ASCII),))]
        if not spelled or not spelled[0][:1].isalpha():
            spelled.insert(0, alone)
        names.append(".".join(spelled))
    return names


_Parts = tuple[tuple[str, bool], ...]
"""The parts of a path, each with whether it is a key of a mapping."""


def _parts(path: tuple[Any, ...]) -> _Parts:
    parts = [(part, hasattr(key, "key")) for key in path for part in _part(key).split("/") if part != "~"]
    return tuple(parts)


def _numbered(leaves: Sequence[tuple[_Parts, tuple[int, ...]]]) -> dict[_Parts, tuple[str, str]]:
    """The beginnings of paths that end in an entry of a list that is spelled by keys, with the parts of the entry's name."""
    families: dict[tuple[_Parts, str, str], dict[int, dict[_Parts, list[Any]]]] = {}
    for parts, shape in leaves:
        for at, (part, is_key) in enumerate(parts):
            below = parts[at + 1 :]
            match = re.fullmatch(r"(\w*[A-Za-z])(?:(_?)(\d+))?", part, flags=re.ASCII)
            if match and is_key and (match[3] or below):
                # A module without a number is the first of those with one behind `_`.
                mark, number = (match[2], int(match[3])) if match[3] else ("_", 0)
                members = families.setdefault((parts[:at], match[1], mark), {}).setdefault(number, {})
                members.setdefault(parts[: at + 1], []).append((below, shape))
    numbered = {}
    for (_, name, _), family in families.items():
        entries = [entry for number in sorted(family) for entry in family[number].items()]
        is_list = len(entries) > 1 and sorted(family) == list(range(len(entries)))
        if is_list and all(below == entries[0][1] for _, below in entries):
            numbered.update({path: (name, str(number)) for number, (path, _) in enumerate(entries)})
    return numbered


def _part(key: Any) -> str:
    for field in ("key", "idx", "name"):
        if hasattr(key, field):
            return str(getattr(key, field))
    return str(key)


def _check_names(inputs: list[Input]) -> None:
    seen: set[str] = set()
    for item in inputs:
        if item.name in seen:
            raise wrong(f"two leaves are called `{item.name}`", help="give parameters and data other keys")
        seen.add(item.name)


def _starts(leaves: Iterable[Any]) -> list[Init]:
    """How weights start, by their values: alike where their standard deviations differ by no more than those of samples do."""
    known: list[tuple[float, float]] = []
    starts: list[Init] = []
    for leaf in leaves:
        start = _start(leaf)
        if isinstance(start, float):
            error = 4 / np.sqrt(2 * np.size(leaf))
            same = (first for first, of_first in known if abs(start - first) <= first * (error + of_first))
            first = next(same, start)
            known.append((first, error))
            start = normal(first)
        starts.append(start)
    return starts


def _start(leaf: Any) -> Init | float:
    """How a weight starts, by its values: one number everywhere, or with this standard deviation."""
    if isinstance(leaf, jax.ShapeDtypeStruct) or np.size(leaf) == 0:
        return ABSTRACT
    values = np.asarray(leaf).ravel()
    first = float(values[0])
    if (values == values[0]).all():
        return {0.0: zeros, 1.0: ones}.get(first) or constant(first)
    # Squares are summed in pieces, without a copy of all in `float64`.
    return float(np.sqrt(np.einsum("i,i->", values, values, dtype=np.float64) / values.size))
