"""What one block keeps for its backward in JAX, in bytes, by model and policy: `tests/data/jax-residuals.json`.

    .venv/bin/python residuals.py ../../tests/data/jax-residuals.json

Counted is what `saved_residuals` lists, each array once, of the arrays that the batch is the first dimension of: weights, tables
of positions and the mask are there for all layers. Queries of heads that share a key head stand beside each other, so that no key
or value is repeated.
"""

import json
import sys
from importlib.metadata import version
from math import prod
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
from jax._src.ad_checkpoint import saved_residuals

from jax_step import NORM_EPS, linear, rms_norm, rope_tables, rotate

GROUPED = {"hidden": 48, "heads": 4, "kv_heads": 2, "ffn": 80, "seq": 32, "batch": 2}
SIZES = {
    "llama": GROUPED,
    "qwen2": GROUPED,
    "gpt2": {"hidden": 48, "heads": 4, "ffn": 192, "positions": 32, "seq": 32, "batch": 2},
}


def core(mask, q, k, v):
    """Attention of queries [B, S, heads, D] to keys and values [B, S, kv_heads, D]."""
    batch, seq, heads, width = q.shape
    q = q.reshape(batch, seq, k.shape[2], -1, width)
    scores = jnp.einsum("bqkgd,bskd->bkgqs", q, k) / width**0.5
    probabilities = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bkgqs,bskd->bqkgd", probabilities, v).reshape(batch, seq, heads * width)


def swiglu(gate, up):
    return jax.nn.silu(gate) * up


def gelu(x):
    return jax.nn.gelu(x, approximate=True)


def project(x, w, name):
    y = linear(x, w[name])
    return y + w[f"{name}_bias"] if f"{name}_bias" in w else y


def layer_norm(x, w, name):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + NORM_EPS) * w[name] + w[f"{name}_bias"]


def llama_block(c, again, rope, mask, x, w):
    """Llama's, and with biases Qwen2's. `again` wraps what selective checkpointing computes again."""
    split = lambda x: x.reshape(c.batch, c.seq, -1, c.hidden // c.heads)
    h = rms_norm(x, w["attention_norm"])
    q, k, v = (split(project(h, w, name)) for name in "qkv")
    x = x + linear(again(lambda *qkv: core(mask, *qkv))(rotate(q, rope), rotate(k, rope), v), w["o"])
    h = rms_norm(x, w["mlp_norm"])
    return x + linear(again(swiglu)(linear(h, w["gate"]), linear(h, w["up"])), w["down"])


def gpt2_block(c, again, _, mask, x, w):
    split = lambda x: x.reshape(c.batch, c.seq, c.heads, -1)
    qkv = jnp.split(project(layer_norm(x, w, "ln_1"), w, "c_attn"), 3, axis=-1)
    x = x + project(again(lambda *qkv: core(mask, *qkv))(*map(split, qkv)), w, "c_proj")
    h = again(gelu)(project(layer_norm(x, w, "ln_2"), w, "c_fc"))
    return x + project(h, w, "down")


def llama_shapes(c):
    kv = c.hidden // c.heads * c.kv_heads
    norms = {name: (c.hidden,) for name in ("attention_norm", "mlp_norm")}
    attention = {"q": (c.hidden, c.hidden), "k": (c.hidden, kv), "v": (c.hidden, kv), "o": (c.hidden, c.hidden)}
    return norms | attention | {"gate": (c.hidden, c.ffn), "up": (c.hidden, c.ffn), "down": (c.ffn, c.hidden)}


def qwen2_shapes(c):
    shapes = llama_shapes(c)
    return shapes | {f"{name}_bias": shapes[name][1:] for name in "qkv"}


def gpt2_shapes(c):
    linears = {"c_attn": (c.hidden, 3 * c.hidden), "c_proj": (c.hidden, c.hidden)}
    linears |= {"c_fc": (c.hidden, c.ffn), "down": (c.ffn, c.hidden)}
    shapes = linears | {"ln_1": (c.hidden,), "ln_2": (c.hidden,)}
    return shapes | {f"{name}_bias": shape[-1:] for name, shape in shapes.items()}


BLOCKS = {
    "llama": (llama_block, llama_shapes),
    "qwen2": (llama_block, qwen2_shapes),
    "gpt2": (gpt2_block, gpt2_shapes),
}
SAVEABLE = jax.checkpoint_policies
PLAIN = lambda f: f
# What Halite's recipe calls it; what wraps the block, and what wraps the core of attention and the activation.
POLICIES = (
    (["none"], PLAIN, PLAIN),
    (["attention", "activation"], PLAIN, jax.checkpoint),
    (["dots"], lambda f: jax.checkpoint(f, policy=SAVEABLE.dots_saveable), PLAIN),
    (["block"], lambda f: jax.checkpoint(f, policy=SAVEABLE.nothing_saveable), PLAIN),
)


def kept(name, around, again):
    """The bytes that a block keeps."""
    c = SimpleNamespace(**SIZES[name])
    block, shapes = BLOCKS[name]
    f32 = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    rope, mask = rope_tables(c), jnp.tril(jnp.ones((c.seq, c.seq), bool))
    weights = {name: f32(shape) for name, shape in shapes(c).items()}
    run = around(lambda x, w: block(c, again, rope, mask, x, w))
    saved = saved_residuals(run, f32((c.batch, c.seq, c.hidden)), weights)
    return sum(prod(array.shape) * array.dtype.itemsize for array, _ in saved if array.shape[:1] == (c.batch,))


def main(out):
    policies = lambda name: [
        {"recompute": recompute, "bytes": kept(name, around, again)} for recompute, around, again in POLICIES
    ]
    blocks = {name: {"sizes": sizes, "policies": policies(name)} for name, sizes in SIZES.items()}
    Path(out).write_text(json.dumps({"jax": version("jax"), "blocks": blocks}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
