"""Models of Flax that are no decoders: a residual network in evaluation mode, a U-Net, an encoder with a decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from frameworks import HEADS, HIDDEN, ROWS, SEQ, VOCAB, WIDE, Model, mask

IMAGE = 16
Batch = dict[str, Any]
Made = tuple[Model, Batch]


class Bottleneck(nn.Module):
    width: int
    stride: int = 1

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        def norm(y: jax.Array) -> Any:
            made: Any = nn.BatchNorm(use_running_average=True, **WIDE)
            return made(y)

        y = nn.relu(norm(nn.Conv(self.width, (1, 1), use_bias=False, **WIDE)(x)))
        y = nn.relu(norm(nn.Conv(self.width, (3, 3), (self.stride, self.stride), use_bias=False, **WIDE)(y)))
        y = norm(nn.Conv(4 * self.width, (1, 1), use_bias=False, **WIDE)(y))
        if x.shape != y.shape:
            x = norm(nn.Conv(4 * self.width, (1, 1), (self.stride, self.stride), use_bias=False, **WIDE)(x))
        return nn.relu(x + y)


class ResNet50(nn.Module):
    """Of 3, 4, 6 and 3 blocks, a sixteenth as wide."""

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        x = nn.Conv(4, (7, 7), (2, 2), use_bias=False, **WIDE)(images)
        pool: Any = nn.max_pool
        x = pool(nn.relu(nn.BatchNorm(use_running_average=True, **WIDE)(x)), (3, 3), (2, 2), "SAME")
        for stage, blocks in enumerate([3, 4, 6, 3]):
            for block in range(blocks):
                x = Bottleneck(4 * 2**stage, 2 if stage > 0 and block == 0 else 1)(x)
        return nn.Dense(10, **WIDE)(x.mean((1, 2)))


class UNet(nn.Module):
    """Three sizes, joined by concatenation; transposed convolutions on the way up."""

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        def block(x: jax.Array, width: int) -> jax.Array:
            for _ in range(2):
                x = nn.silu(nn.GroupNorm(2, **WIDE)(nn.Conv(width, (3, 3), **WIDE)(x)))
            return x

        pool: Any = nn.avg_pool
        kept, x = [], images
        for width in (4, 8):
            kept.append(block(x, width))
            x = pool(kept[-1], (2, 2), (2, 2))
        x = block(x, 16)
        for width in (8, 4):
            x = nn.ConvTranspose(width, (2, 2), (2, 2), **WIDE)(x)
            x = block(jnp.concatenate([x, kept.pop()], -1), width)
        return nn.Conv(3, (1, 1), **WIDE)(x)


class EncoderDecoder(nn.Module):
    """Two layers each; the decoder reads what the encoder gives."""

    @nn.compact
    def __call__(self, source: jax.Array, target: jax.Array) -> Any:
        def attend(x: jax.Array, to: jax.Array | None = None, seen: jax.Array | None = None) -> Any:
            h = nn.RMSNorm(**WIDE)(x)
            return x + nn.MultiHeadDotProductAttention(HEADS, use_bias=False, **WIDE)(h, h if to is None else to, mask=seen)

        def feed(x: jax.Array) -> jax.Array:
            h = nn.relu(nn.Dense(2 * HIDDEN, use_bias=False, **WIDE)(nn.RMSNorm(**WIDE)(x)))
            return x + nn.Dense(HIDDEN, use_bias=False, **WIDE)(h)

        table: Any = nn.Embed(VOCAB, HIDDEN, **WIDE)
        x, y = table(source), table(target)
        for _ in range(2):
            x = feed(attend(x))
        x = nn.RMSNorm(**WIDE)(x)
        for _ in range(2):
            y = feed(attend(attend(y, seen=mask()), x))
        return table.attend(nn.RMSNorm(**WIDE)(y))


def resnet50() -> Made:
    random = np.random.default_rng(1)
    batch = {"images": random.normal(size=(ROWS, 32, 32, 3)), "labels": random.integers(0, 10, ROWS).astype(np.int32)}
    model: Any = ResNet50()
    made = model.init(jax.random.key(0), batch["images"])
    running = jax.tree.map(lambda leaf: leaf + 0.1 * random.random(leaf.shape), made["batch_stats"])

    def loss(params: Any, batch: Any) -> Any:
        logits = model.apply({"params": params, "batch_stats": running}, batch["images"])
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), batch["labels"][:, None], -1).mean()

    return (loss, made["params"]), batch


def unet() -> Made:
    random = np.random.default_rng(2)
    batch = {"noisy": random.normal(size=(ROWS, IMAGE, IMAGE, 3)), "noise": random.normal(size=(ROWS, IMAGE, IMAGE, 3))}
    model: Any = UNet()

    def loss(params: Any, batch: Any) -> Any:
        return ((model.apply(params, batch["noisy"]) - batch["noise"]) ** 2).mean()

    return (loss, model.init(jax.random.key(0), batch["noisy"])), batch


def encoder_decoder() -> Made:
    random = np.random.default_rng(3)
    batch = {name: random.integers(0, VOCAB, (ROWS, SEQ + more)).astype(np.int32) for name, more in (("source", 0), ("target", 1))}
    model: Any = EncoderDecoder()

    def loss(params: Any, batch: Any) -> Any:
        logits = model.apply(params, batch["source"], batch["target"][:, :-1])
        taken = jnp.take_along_axis(jax.nn.log_softmax(logits), batch["target"][:, 1:, None], -1)
        return -taken.sum(), jnp.asarray(taken.size, jnp.float64)

    return (loss, model.init(jax.random.key(0), batch["source"], batch["target"][:, :-1])), batch


MODELS: dict[str, Callable[[], Made]] = {"resnet50": resnet50, "unet": unet, "encoder_decoder": encoder_decoder}
