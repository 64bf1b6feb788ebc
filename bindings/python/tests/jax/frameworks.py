"""One small language model in four frameworks: for each a name, a loss of parameters and a batch, and the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
from flax import nnx

ROWS, SEQ, VOCAB, HIDDEN, HEADS, LAYERS = 4, 16, 64, 32, 4, 3
WIDE = {"dtype": jnp.float64, "param_dtype": jnp.float64}
Model = tuple[Callable[[Any, Any], Any], Any]


def mask() -> jax.Array:
    return jnp.tril(jnp.ones((SEQ, SEQ), bool))


def loss_of(logits: Callable[[Any, jax.Array], jax.Array]) -> Callable[[Any, Any], Any]:
    """The sum of the cross entropy of the next tokens, and their number."""

    def loss(params: Any, batch: Any) -> Any:
        tokens = batch["tokens"]
        likely = jax.nn.log_softmax(logits(params, tokens[:, :-1]))
        taken = jnp.take_along_axis(likely, tokens[:, 1:, None], -1)
        return -taken.sum(), jnp.asarray(taken.size, jnp.float64)

    return loss


def wide(params: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float64), params)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        h = nn.LayerNorm(**WIDE)(x)
        x = x + nn.MultiHeadDotProductAttention(HEADS, **WIDE)(h, h, mask=mask())
        h = nn.Dense(4 * HIDDEN, **WIDE)(nn.LayerNorm(**WIDE)(x))
        return x + nn.Dense(HIDDEN, **WIDE)(nn.gelu(h))


class Linen(nn.Module):
    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = nn.Embed(VOCAB, HIDDEN, **WIDE)(tokens)
        for layer in range(LAYERS):
            x = Block(name=f"layers_{layer}")(x)
        return nn.Dense(VOCAB, **WIDE)(nn.LayerNorm(**WIDE)(x))


def linen() -> Model:
    model: Any = Linen()
    return loss_of(lambda params, tokens: model.apply(params, tokens)), model.init(jax.random.key(0), jnp.zeros((ROWS, SEQ), jnp.int32))


class Step(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return Block()(x), None


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = nn.Embed(VOCAB, HIDDEN, **WIDE)(tokens)
        step = nn.scan(nn.remat(Step), variable_axes={"params": 0}, split_rngs={"params": True}, length=LAYERS)
        x, _ = step(name="layers")(x, None)
        return nn.Dense(VOCAB, **WIDE)(nn.LayerNorm(**WIDE)(x))


def scanned() -> Model:
    """Layers as a loop, over a row of each of their weights."""
    model: Any = Scanned()
    return loss_of(lambda params, tokens: model.apply(params, tokens)), model.init(jax.random.key(0), jnp.zeros((ROWS, SEQ), jnp.int32))


class NnxBlock(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([nnx.LayerNorm(HIDDEN, rngs=rngs, **WIDE) for _ in range(2)])
        self.attention = nnx.MultiHeadAttention(HEADS, HIDDEN, rngs=rngs, decode=False, **WIDE)
        self.up, self.down = nnx.Linear(HIDDEN, 4 * HIDDEN, rngs=rngs, **WIDE), nnx.Linear(4 * HIDDEN, HIDDEN, rngs=rngs, **WIDE)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.norms[0](x), mask=mask())
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class Nnx(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(VOCAB, HIDDEN, rngs=rngs, **WIDE)
        self.layers = nnx.List([NnxBlock(rngs) for _ in range(LAYERS)])
        self.norm, self.head = nnx.LayerNorm(HIDDEN, rngs=rngs, **WIDE), nnx.Linear(HIDDEN, VOCAB, rngs=rngs, **WIDE)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def of_nnx() -> Model:
    split: Any = nnx.split
    graph, params, rest = split(Nnx(nnx.Rngs(0)), nnx.Param, ...)
    return loss_of(lambda params, tokens: nnx.merge(graph, params, rest)(tokens)), params


class EqxBlock(eqx.Module):
    norms: list[eqx.nn.LayerNorm]
    attention: eqx.nn.MultiheadAttention
    mlp: eqx.nn.MLP

    def __init__(self, key: jax.Array) -> None:
        first, second = jax.random.split(key)
        self.norms = [eqx.nn.LayerNorm(HIDDEN) for _ in range(2)]
        self.attention = eqx.nn.MultiheadAttention(HEADS, HIDDEN, key=first)
        self.mlp = eqx.nn.MLP(HIDDEN, HIDDEN, 4 * HIDDEN, 1, jax.nn.gelu, key=second)

    def __call__(self, x: jax.Array) -> jax.Array:
        h = jax.vmap(self.norms[0])(x)
        x = x + self.attention(h, h, h, mask=mask())
        return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))


class Equinox(eqx.Module):
    embed: eqx.nn.Embedding
    layers: list[EqxBlock]
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, key: jax.Array) -> None:
        first, second, *rest = jax.random.split(key, LAYERS + 2)
        self.embed = eqx.nn.Embedding(VOCAB, HIDDEN, key=first)
        self.layers = [EqxBlock(key) for key in rest]
        self.norm, self.head = eqx.nn.LayerNorm(HIDDEN), eqx.nn.Linear(HIDDEN, VOCAB, key=second)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = jax.vmap(self.embed)(tokens)
        for layer in self.layers:
            x = layer(x)
        return jax.vmap(self.head)(jax.vmap(self.norm)(x))


def equinox() -> Model:
    params, static = eqx.partition(Equinox(jax.random.key(0)), eqx.is_inexact_array)
    return loss_of(lambda params, tokens: jax.vmap(eqx.combine(params, static))(tokens)), wide(params)


def haiku_logits(tokens: jax.Array) -> jax.Array:
    x = hk.Embed(VOCAB, HIDDEN)(tokens)
    scaled: Any = hk.initializers.VarianceScaling
    for _ in range(LAYERS):
        h = hk.LayerNorm(-1, True, True)(x)
        own = hk.MultiHeadAttention(HEADS, HIDDEN // HEADS, w_init=scaled(1.0), model_size=HIDDEN)
        x = x + own(h, h, h, mask=mask()[None, None])
        h = hk.Linear(4 * HIDDEN)(hk.LayerNorm(-1, True, True)(x))
        x = x + hk.Linear(HIDDEN)(jax.nn.relu(h))
    return hk.Linear(VOCAB)(hk.LayerNorm(-1, True, True)(x))


def haiku() -> Model:
    model: Any = hk.without_apply_rng(hk.transform(haiku_logits))
    return loss_of(model.apply), wide(model.init(jax.random.key(0), jnp.zeros((ROWS, SEQ), jnp.int32)))


FRAMEWORKS: dict[str, Callable[[], Model]] = {"linen": linen, "scanned": scanned, "nnx": of_nnx, "equinox": equinox, "haiku": haiku}
