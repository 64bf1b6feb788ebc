"""The Llama training step as a JAX user would write it: forward, loss, backward, clip, AdamW, donated state.

    python jax_step.py CONFIG fp32|mixed unrolled|scan OUT.hlo.pb

traces and lowers it, without arrays and without compiling, and writes the HloModuleProto bytes.

The state is f32 in both precisions. Under `mixed` every matmul reads bf16, its weight cast where it is used, and activations
are bf16. Matmuls answer bf16, but attention scores leave theirs in f32, with the algorithm that keeps its backward in bf16,
as in `jax.nn.dot_product_attention`. Softmax, norms, rotary positions, loss, clipping and AdamW compute in f32, and
gradients of weights are cast to f32 before anything is done with them.
"""

import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp

from configs import CONFIGS

VARIANTS = ("unrolled", "scan")
COMPUTE = {"fp32": jnp.float32, "mixed": jnp.bfloat16}
ALGORITHM = {jnp.dtype(jnp.bfloat16): jax.lax.DotAlgorithmPreset.BF16_BF16_F32}
PEAK, MIN_RATIO, WARMUP, TOTAL = 1e-3, 0.1, 5, 20
BETA1, BETA2, EPS, DECAY, CLIP = 0.9, 0.95, 1e-8, 0.1, 1.0
NORM_EPS, ROPE_THETA, IGNORE = 1e-5, 10000.0, -100


def layer_shapes(c):
    kv = c.hidden // c.heads * c.kv_heads
    return {
        "attention_norm": (c.hidden,),
        "q": (c.hidden, c.hidden),
        "k": (c.hidden, kv),
        "v": (c.hidden, kv),
        "o": (c.hidden, c.hidden),
        "mlp_norm": (c.hidden,),
        "gate": (c.hidden, c.ffn),
        "up": (c.hidden, c.ffn),
        "down": (c.ffn, c.hidden),
    }


def state_shapes(c, variant):
    """The state as a tree of shapes; `scan` stacks each weight over the layers."""
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    if variant == "scan":
        layers = {name: f32(c.layers, *shape) for name, shape in layer_shapes(c).items()}
    else:
        layers = [{name: f32(*shape) for name, shape in layer_shapes(c).items()} for _ in range(c.layers)]
    weights = {
        "embed": f32(c.vocab, c.hidden),
        "layers": layers,
        "norm": f32(c.hidden),
        "lm_head": f32(c.hidden, c.vocab),
    }
    return {"weights": weights, "m": weights, "v": weights, "t": jax.ShapeDtypeStruct((), jnp.int32)}


def tokens_shape(c):
    return jax.ShapeDtypeStruct((c.batch, c.seq + 1), jnp.int32)


def rms_norm(x, weight):
    wide = x.astype(jnp.float32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + NORM_EPS) * weight
    return wide.astype(x.dtype)


def linear(x, weight):
    return x @ weight.astype(x.dtype)


def rope_tables(c):
    width = c.hidden // c.heads
    frequency = ROPE_THETA ** (-jnp.arange(0, width, 2, dtype=jnp.float32) / width)
    angle = jnp.arange(c.seq, dtype=jnp.float32)[:, None] * jnp.tile(frequency, 2)
    return jnp.cos(angle)[:, None, :], jnp.sin(angle)[:, None, :]


def rotate(x, rope):
    cos, sin = rope
    first, second = jnp.split(x, 2, axis=-1)
    return (x * cos + jnp.concatenate([-second, first], axis=-1) * sin).astype(x.dtype)


def attention(c, x, w, rope, mask):
    batch, seq, _ = x.shape
    width = c.hidden // c.heads
    q = rotate(linear(x, w["q"]).reshape(batch, seq, c.heads, width), rope)
    k = rotate(linear(x, w["k"]).reshape(batch, seq, c.kv_heads, width), rope)
    v = linear(x, w["v"]).reshape(batch, seq, c.kv_heads, width)
    if c.kv_heads != c.heads:
        k = jnp.repeat(k, c.heads // c.kv_heads, axis=2)
        v = jnp.repeat(v, c.heads // c.kv_heads, axis=2)
    return linear(core(mask, q, k, v).reshape(batch, seq, c.hidden), w["o"])


def core(mask, q, k, v):
    """Attention of queries, keys and values [B, S, heads, width]."""
    algorithm = ALGORITHM.get(q.dtype)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, precision=algorithm, preferred_element_type=jnp.float32)
    scores = scores / q.shape[-1] ** 0.5
    probabilities = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", probabilities, v)


def activation(gate, up):
    return jax.nn.silu(gate) * up


def layer(c, rope, mask, x, w):
    x = x + attention(c, rms_norm(x, w["attention_norm"]), w, rope, mask)
    h = rms_norm(x, w["mlp_norm"])
    return x + linear(activation(linear(h, w["gate"]), linear(h, w["up"])), w["down"])


def loss(c, precision, variant, weights, tokens):
    """The mean cross entropy over the labels that count."""
    inputs, labels = tokens[:, :-1], tokens[:, 1:]
    step = partial(layer, c, rope_tables(c), jnp.tril(jnp.ones((c.seq, c.seq), bool)))
    x = weights["embed"][inputs].astype(COMPUTE[precision])
    if variant == "scan":
        x, _ = jax.lax.scan(lambda x, w: (step(x, w), None), x, weights["layers"])
    else:
        for w in weights["layers"]:
            x = step(x, w)
    logits = linear(rms_norm(x, weights["norm"]), weights["lm_head"]).astype(jnp.float32)
    log_p = jax.nn.log_softmax(logits, axis=-1)
    counted = labels != IGNORE
    picked = jnp.take_along_axis(log_p, jnp.where(counted, labels, 0)[..., None], axis=-1)[..., 0]
    return -jnp.sum(jnp.where(counted, picked, 0)) / jnp.sum(counted)


def learning_rate(step):
    progress = jnp.clip((step - WARMUP) / (TOTAL - WARMUP), 0, 1)
    floor = MIN_RATIO * PEAK
    cosine = floor + (PEAK - floor) * 0.5 * (1 + jnp.cos(jnp.pi * progress))
    return jnp.where(step <= WARMUP, PEAK * step / WARMUP, cosine)


def adamw(rate, correction1, correction2, scale, w, g, m, v):
    g = g * scale
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    update = (m / correction1) / (jnp.sqrt(v / correction2) + EPS)
    return w - (rate * update + rate * DECAY * w), m, v


def train_step(c, precision, variant, state, tokens):
    """(state, tokens s32[B, S+1]) to (state', metrics)."""
    weights = state["weights"]
    value, grads = jax.value_and_grad(partial(loss, c, precision, variant))(weights, tokens)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    step = (state["t"] + 1).astype(jnp.float32)
    rate = learning_rate(step)
    scale = jnp.minimum(1.0, CLIP / (norm + 1e-6))
    update = partial(adamw, rate, 1 - BETA1**step, 1 - BETA2**step, scale)
    updated = jax.tree.map(update, weights, grads, state["m"], state["v"])
    new_weights, m, v = jax.tree.transpose(jax.tree.structure(weights), jax.tree.structure((0, 0, 0)), updated)
    new_state = {"weights": new_weights, "m": m, "v": v, "t": state["t"] + 1}
    return new_state, {"loss": value, "grad_norm": norm, "learning_rate": rate}


def lower(c, precision, variant):
    """The HloModuleProto bytes of the step."""
    step = jax.jit(partial(train_step, c, precision, variant), donate_argnums=0)
    lowered = step.lower(state_shapes(c, variant), tokens_shape(c))
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


if __name__ == "__main__":
    name, precision, variant, out = sys.argv[1:]
    Path(out).write_bytes(lower(CONFIGS[name], precision, variant))
