"""What random programs on a mesh are made of: their description, meshes, and training steps around a loss."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

RATE = 0.1
ACTIVATIONS = {"tanh": jnp.tanh, "gelu": jax.nn.gelu, "silu": jax.nn.silu, "relu": jax.nn.relu, "square": lambda x: x * x}


@dataclass
class Input:
    """A parameter: floats, or integers below `below`."""

    name: str
    shape: tuple
    spec: PartitionSpec
    below: int = 0
    scale: float = 1.0

    def sample(self, rng):
        if self.below:
            return rng.integers(0, self.below, self.shape).astype(np.int32)
        return (rng.standard_normal(self.shape) * self.scale).astype(np.float32)


@dataclass
class Program:
    """A program of a rank: `body(ranks, *arrays)` gives a tuple, of which `results` says how each is sharded."""

    name: str
    mesh: dict
    inputs: list
    results: tuple
    body: object


@dataclass
class Place:
    """A mesh, and the axes that share the batch and the model."""

    mesh: dict
    data: tuple = ()
    model: tuple = ()

    @property
    def all(self):
        return tuple(self.mesh)

    @property
    def rows(self):
        return self.data or None

    @property
    def columns(self):
        return self.model or None


def spec(*axes):
    """A specification in which no axes are `None`."""
    return PartitionSpec(*(None if not own else own if isinstance(own, str) or len(own) > 1 else own[0] for own in axes))


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def one_axis(rng):
    """A mesh of which everything is along all axes, one or two."""
    if rng.random() < 0.75:
        name = pick(rng, "x", "data", "seq")
        return Place({name: 8}, (name,), (name,))
    names, sizes = pick(rng, ("a", "b"), ("pod", "seq")), pick(rng, (2, 4), (4, 2))
    axes = names if rng.random() < 0.6 else names[::-1]
    return Place(dict(zip(names, sizes)), axes, axes)


def place(rng, least="any"):
    """A mesh with axes for data and the model, of which one may be missing: not that of `least`, and none if that is `both`."""
    data, model = pick(rng, ("data", "tensor"), ("dp", "tp"), ("batch", "model"))
    at = rng.random()
    if at < 0.2 and least != "both":
        shared = least == "data" or (least == "any" and rng.random() < 0.5)
        return Place({data: 8}, (data,)) if shared else Place({model: 8}, (), (model,))
    if at < 0.3:
        return Place({"pod": 2, data: 2, model: 2}, ("pod", data), (model,))
    if at < 0.4:
        return Place({data: 2, "outer": 2, model: 2}, (data,), ("outer", model))
    size = pick(rng, 2, 4)
    if at < 0.6:
        return Place({model: 8 // size, data: size}, (data,), (model,))
    return Place({data: size, model: 8 // size}, (data,), (model,))


def weight(name, shape, placed=PartitionSpec()):
    fan = shape[0] if len(shape) > 1 else 4
    return Input(name, shape, placed, scale=float(1 / np.sqrt(fan)))


def axes_of(placed):
    """The axes in a specification."""
    each = [(own,) if isinstance(own, str) else own or () for own in placed]
    return tuple(axis for own in each for axis in own)


def forward(name, where, inputs, results, body):
    return Program(name, where.mesh, inputs, results, body)


def train(rng, name, where, weights, batch, loss, update=None):
    """A training step, of a loss that is this rank's term of a sum over `data`, and the same along `model`."""
    update = update or pick(rng, "gradients", "gradients", "sgd", "clip", "momentum", "zero")
    names = [own.name for own in weights]
    specs = {own.name: own.spec for own in weights}
    held = {own: ((*axes_of(specs[own][:1]), *where.data), *specs[own][1:]) for own in names}
    stateful = update in ("momentum", "zero")
    state = [Input(f"m_{own.name}", own.shape, own.spec if update == "momentum" else spec(*held[own.name])) for own in weights]

    def body(c, *arrays):
        w = dict(zip(names, arrays))
        old = dict(zip(names, arrays[len(names) :])) if stateful else {}
        rest = arrays[len(names) + len(old) :]
        value, grads = jax.value_and_grad(lambda w: loss(c, w, *rest))(w)
        value = c.psum(value, where.data)
        if update == "zero":
            new, kept = {}, {}
            for own in names:
                part = c.scatter(grads[own], where.data, 0)
                kept[own] = 0.9 * old[own] + part
                moved = c.own(w[own], where.data, 0) - RATE * kept[own]
                new[own] = c.gather(moved, where.data, 0)
            return (value, *new.values(), *kept.values())
        grads = {own: c.psum(grads[own], where.data) for own in names}
        if update == "gradients":
            return (value, *grads.values())
        if update == "clip":
            squares = sum(c.psum(jnp.sum(grads[own] ** 2), axes_of(specs[own])) for own in names)
            grads = {own: grads[own] * jnp.minimum(1.0, 0.5 / jnp.sqrt(squares)) for own in names}
            return (value, jnp.sqrt(squares), *(w[own] - RATE * grads[own] for own in names))
        if update == "momentum":
            kept = {own: 0.9 * old[own] + grads[own] for own in names}
            return (value, *(w[own] - RATE * kept[own] for own in names), *kept.values())
        return (value, *(w[own] - RATE * grads[own] for own in names))

    moved = tuple(specs.values())
    results = {"clip": (spec(), spec(), *moved), "gradients": (spec(), *moved), "sgd": (spec(), *moved)}
    results |= {kind: (spec(), *moved, *(own.spec for own in state)) for kind in ("momentum", "zero")}
    inputs = [*weights, *(state if stateful else []), *batch]
    return Program(f"{name}, {update}", where.mesh, inputs, results[update], body)


def either(rng, name, where, weights, batch, apply, result, update=None):
    """What is computed alone, or a training step of its squared distance from a target; `apply` gives a rank's shard of one result."""
    if rng.random() < 0.35:
        body = lambda c, *arrays: (apply(c, dict(zip([own.name for own in weights], arrays)), *arrays[len(weights) :]),)
        return forward(f"{name}, forward", where, [*weights, *batch], (result.spec,), body)
    rest = [axis for axis in axes_of(result.spec) if axis not in where.data]
    mean = rng.random() < 0.6
    elements = float(np.prod(result.shape))

    def loss(c, w, *arrays):
        distance = jnp.sum((apply(c, w, *arrays[:-1]) - arrays[-1]) ** 2)
        distance = distance / elements if mean else distance
        return c.leave(distance, tuple(rest))

    return train(rng, name, where, weights, [*batch, result], loss, update)
