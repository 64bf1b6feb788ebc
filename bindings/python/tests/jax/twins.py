"""Published architectures written in JAX, after their papers and with the names of `tests/architectures/*.hal`.

Each takes weights by name, the configuration and a batch, and returns the sum of the loss and the count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

Weights = dict[str, jax.Array]
Config = Mapping[str, Any]
Batch = Mapping[str, Any]
Loss = tuple[jax.Array, jax.Array]


def linear(w: Weights, name: str, x: jax.Array) -> jax.Array:
    y = x @ w[f"{name}.weight"].T
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y


def layer_norm(w: Weights, name: str, x: jax.Array, eps: float) -> jax.Array:
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + eps) * w[f"{name}.weight"] + w[f"{name}.bias"]


def rms_norm(w: Weights, name: str, x: jax.Array, eps: float, offset: float = 0.0) -> jax.Array:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + eps) * (w[f"{name}.weight"] + offset)


def rope(x: jax.Array, theta: float = 10000.0) -> jax.Array:
    """Of `x[batch, seq, heads, head_dim]`, by halves."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(
    q: jax.Array, k: jax.Array, v: jax.Array, seen: jax.Array, cap: float | None = None, bias: jax.Array | float = 0.0
) -> jax.Array:
    """`[batch, seq, heads, head_dim]`; heads of queries that share a key head follow one another."""
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], 2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5 + bias
    if cap is not None:
        scores = cap * jnp.tanh(scores / cap)
    p = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1)
    o = jnp.einsum("bhqk,bkhd->bqhd", p, v)
    return o.reshape(*o.shape[:2], -1)


def heads(x: jax.Array, count: int) -> jax.Array:
    return x.reshape(*x.shape[:2], count, -1)


def causal(seq: int, window: int = 0) -> jax.Array:
    row, column = jnp.arange(seq)[:, None], jnp.arange(seq)
    return (row >= column) & (row - column < window) if window else row >= column


def cross_entropy(logits: jax.Array, labels: jax.Array) -> Loss:
    counts = labels != -100
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.where(counts, labels, 0)[..., None], -1)[..., 0]
    return -jnp.where(counts, picked, 0.0).sum(), counts.sum()


def gemma2(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]

    def norm(name: str, x: jax.Array) -> jax.Array:
        return rms_norm(w, name, x, c["eps"], 1.0)

    x = w["table"][ids] * c["hidden"] ** 0.5
    for i in range(c["layers"]):
        at = f"layers.{i}"
        y = norm(f"{at}.input_layernorm", x)
        q = rope(heads(linear(w, f"{at}.self_attn.q_proj", y), c["heads"]))
        k = rope(heads(linear(w, f"{at}.self_attn.k_proj", y), c["kv_heads"]))
        v = heads(linear(w, f"{at}.self_attn.v_proj", y), c["kv_heads"])
        y = attention(q, k, v, causal(c["seq"], c["window"] if i % 2 == 0 else 0), c["score_cap"])
        x = x + norm(f"{at}.post_attention_layernorm", linear(w, f"{at}.self_attn.o_proj", y))
        y = norm(f"{at}.pre_feedforward_layernorm", x)
        gate = jax.nn.gelu(linear(w, f"{at}.mlp.gate_proj", y), approximate=True)
        y = linear(w, f"{at}.mlp.down_proj", gate * linear(w, f"{at}.mlp.up_proj", y))
        x = x + norm(f"{at}.post_feedforward_layernorm", y)
    logits = norm("norm", x) @ w["table"].T
    return cross_entropy(c["logit_cap"] * jnp.tanh(logits / c["logit_cap"]), labels)


def olmo2(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    x = w["table"][ids]
    for i in range(c["layers"]):
        at = f"layers.{i}"
        q, k, v = jnp.split(linear(w, f"{at}.self_attn.att_proj", x), 3, -1)
        q = rope(heads(rms_norm(w, f"{at}.self_attn.q_norm", q, c["eps"]), c["heads"]), c["theta"])
        k = rope(heads(rms_norm(w, f"{at}.self_attn.k_norm", k, c["eps"]), c["heads"]), c["theta"])
        y = linear(w, f"{at}.self_attn.o_proj", attention(q, k, heads(v, c["heads"]), causal(c["seq"])))
        x = x + rms_norm(w, f"{at}.post_attention_layernorm", y, c["eps"])
        gate, up = jnp.split(linear(w, f"{at}.mlp.ff_proj", x), 2, -1)
        y = linear(w, f"{at}.mlp.ff_out", jax.nn.silu(gate) * up)
        x = x + rms_norm(w, f"{at}.post_feedforward_layernorm", y, c["eps"])
    logits = linear(w, "lm_head", rms_norm(w, "norm", x, c["eps"]))
    loss, count = cross_entropy(logits, labels)
    return loss + c["z_weight"] * (jax.nn.logsumexp(logits, -1) ** 2).sum(), count


def gpt_neox(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    head_dim = c["hidden"] // c["heads"]
    turned = int(head_dim * c["rotary_pct"])

    def partial(x: jax.Array) -> jax.Array:
        return jnp.concatenate([rope(x[..., :turned]), x[..., turned:]], -1)

    x = w["embed_in"][ids]
    for i in range(c["layers"]):
        at = f"layers.{i}"
        y = linear(w, f"{at}.attention.query_key_value", layer_norm(w, f"{at}.input_layernorm", x, c["eps"]))
        q, k, v = (part[..., 0, :] for part in jnp.split(y.reshape(*y.shape[:2], c["heads"], 3, head_dim), 3, -2))
        attended = linear(w, f"{at}.attention.dense", attention(partial(q), partial(k), v, causal(c["seq"])))
        y = linear(w, f"{at}.mlp.dense_h_to_4h", layer_norm(w, f"{at}.post_attention_layernorm", x, c["eps"]))
        x = x + attended + linear(w, f"{at}.mlp.dense_4h_to_h", jax.nn.gelu(y, approximate=False))
    return cross_entropy(layer_norm(w, "final_layer_norm", x, c["eps"]) @ w["embed_out"].T, labels)


def mixtral(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    x, uneven = w["table"][ids], []
    for i in range(c["layers"]):
        at = f"layers.{i}"
        y = rms_norm(w, f"{at}.input_layernorm", x, 1e-5)
        q = rope(heads(linear(w, f"{at}.self_attn.q_proj", y), c["heads"]))
        k = rope(heads(linear(w, f"{at}.self_attn.k_proj", y), c["kv_heads"]))
        v = heads(linear(w, f"{at}.self_attn.v_proj", y), c["kv_heads"])
        x = x + linear(w, f"{at}.self_attn.o_proj", attention(q, k, v, causal(c["seq"])))
        y = rms_norm(w, f"{at}.post_attention_layernorm", x, 1e-5)
        moe = f"{at}.block_sparse_moe"
        scores = linear(w, f"{moe}.gate", y)
        best, chosen = jax.lax.top_k(scores, c["active"])
        hot = jax.nn.one_hot(chosen, c["experts"], dtype=x.dtype)
        share = (jax.nn.softmax(best)[..., None] * hot).sum(-2)
        for e in range(c["experts"]):
            gate = jax.nn.silu(linear(w, f"{moe}.experts.{e}.w1", y))
            x = x + share[..., e : e + 1] * linear(w, f"{moe}.experts.{e}.w2", gate * linear(w, f"{moe}.experts.{e}.w3", y))
        used = hot.sum(-2).mean((0, 1)) / c["active"]
        uneven.append(c["experts"] * (used * jax.nn.softmax(scores).mean((0, 1))).sum())
    loss, count = cross_entropy(linear(w, "lm_head", rms_norm(w, "norm", x, 1e-5)), labels)
    return loss + c["aux_weight"] * jnp.stack(uneven).mean() * count, count


def vit(w: Weights, c: Config, batch: Batch) -> Loss:
    images, rows = batch["images"], batch["images"].shape[0]
    side = c["size"] // c["patch"]
    x = images.reshape(rows, c["channels"], side, c["patch"], side, c["patch"]).transpose(0, 2, 4, 1, 3, 5)
    x = linear(w, "embeddings.projection", x.reshape(rows, side * side, -1))
    first = jnp.broadcast_to(w["embeddings.class"], (rows, 1, c["hidden"]))
    x = jnp.concatenate([first, x], 1) + w["embeddings.position"]
    for i in range(c["layers"]):
        at = f"layer.{i}"
        y = layer_norm(w, f"{at}.layernorm_before", x, c["eps"])
        q, k, v = (heads(linear(w, f"{at}.attention.{part}", y), c["heads"]) for part in ("query", "key", "value"))
        x = x + linear(w, f"{at}.attention.dense", attention(q, k, v, jnp.array(True)))
        y = linear(w, f"{at}.intermediate", layer_norm(w, f"{at}.layernorm_after", x, c["eps"]))
        x = x + linear(w, f"{at}.output", jax.nn.gelu(y, approximate=False))
    return cross_entropy(linear(w, "classifier", layer_norm(w, "layernorm", x, c["eps"])[:, 0]), batch["labels"])


def resnet(w: Weights, c: Config, batch: Batch) -> Loss:
    def convolution(name: str, x: jax.Array, stride: int = 1) -> jax.Array:
        dimensions = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            x, w[f"{name}.weight"], (stride, stride), ((1, 1), (1, 1)), dimension_numbers=dimensions
        )

    def norm(name: str, x: jax.Array) -> jax.Array:
        y = x.reshape(*x.shape[:3], c["groups"], -1)
        y = (y - y.mean((1, 2, 4), keepdims=True)) * jax.lax.rsqrt(y.var((1, 2, 4), keepdims=True) + c["eps"])
        return y.reshape(x.shape) * w[f"{name}.scale"] + w[f"{name}.shift"]

    x = batch["images"].transpose(0, 2, 3, 1)
    x = jax.nn.relu(norm("bn1", convolution("conv1", x)))
    for stage in range(c["widths"]):
        for i in range(c["blocks"]):
            at, stride = f"layer{stage}.{i}", 2 if i == 0 and stage > 0 else 1
            y = jax.nn.relu(norm(f"{at}.bn1", convolution(f"{at}.conv1", x, stride)))
            y = norm(f"{at}.bn2", convolution(f"{at}.conv2", y))
            if f"{at}.downsample.weight" in w:
                x = x[:, ::stride, ::stride] @ w[f"{at}.downsample.weight"]
            x = jax.nn.relu(x + y)
    return cross_entropy(x.mean((1, 2)) @ w["fc"].T, batch["labels"])


def mamba(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    rank, state = c["rank"], c["state"]
    x = w["table"][ids]
    for i in range(c["layers"]):
        at = f"layers.{i}.mixer"
        y, gate = jnp.split(linear(w, f"{at}.in_proj", rms_norm(w, f"layers.{i}.norm", x, c["eps"])), 2, -1)
        padded = jnp.pad(y, ((0, 0), (c["kernel"] - 1, 0), (0, 0)))
        taps = w[f"{at}.conv1d.weight"]
        late = [padded[:, c["kernel"] - 1 - lag :][:, : c["seq"]] * taps[lag] for lag in range(c["kernel"])]
        y = jax.nn.silu(sum(late) + w[f"{at}.conv1d.bias"])
        low, inputs, outputs = jnp.split(linear(w, f"{at}.x_proj", y), [rank, rank + state], -1)
        step = jax.nn.softplus(low @ w[f"{at}.dt_weight"].T + w[f"{at}.dt_bias"])
        rate = -jnp.exp(w[f"{at}.log_rate"]) * (1 + jnp.arange(state))

        def advance(h: jax.Array, now: tuple[jax.Array, ...], rate: jax.Array = rate) -> tuple[jax.Array, jax.Array]:
            y, step, inputs, outputs = now
            h = jnp.exp(step[..., None] * rate) * h + (step * y)[..., None] * inputs[:, None]
            return h, (h * outputs[:, None]).sum(-1)

        h = jnp.zeros((ids.shape[0], y.shape[-1], state), x.dtype)
        _, scanned = jax.lax.scan(advance, h, tuple(part.swapaxes(0, 1) for part in (y, step, inputs, outputs)))
        y = scanned.swapaxes(0, 1) + y * w[f"{at}.skip"]
        x = x + linear(w, f"{at}.out_proj", y * jax.nn.silu(gate))
    return cross_entropy(rms_norm(w, "norm_f", x, c["eps"]) @ w["table"].T, labels)


def deepseek_v2(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    latent, own = c["latent"], c["head_dim"]

    def expert(at: str, x: jax.Array) -> jax.Array:
        return linear(w, f"{at}.down_proj", jax.nn.silu(linear(w, f"{at}.gate_proj", x)) * linear(w, f"{at}.up_proj", x))

    x = w["table"][ids]
    for i in range(c["layers"]):
        at = f"layers.{i}.self_attn"
        y = rms_norm(w, f"layers.{i}.input_layernorm", x, c["eps"])
        q = heads(linear(w, f"{at}.q_proj", y), c["heads"])
        short = linear(w, f"{at}.kv_a_proj", y)
        kv = heads(linear(w, f"{at}.kv_b_proj", rms_norm(w, f"{at}.kv_a_layernorm", short[..., :latent], c["eps"])), c["heads"])
        turned = jnp.repeat(rope(heads(short[..., latent:], 1)), c["heads"], 2)
        q = jnp.concatenate([q[..., :own], rope(q[..., own:])], -1)
        k = jnp.concatenate([kv[..., :own], turned], -1)
        x = x + linear(w, f"{at}.o_proj", attention(q, k, kv[..., own:], causal(c["seq"])))
        y, at = rms_norm(w, f"layers.{i}.post_attention_layernorm", x, c["eps"]), f"layers.{i}.mlp"
        if i == 0:
            x = x + expert(at, y)
            continue
        best, chosen = jax.lax.top_k(jax.nn.softmax(linear(w, f"{at}.gate", y)), c["active"])
        x = x + expert(f"{at}.shared_experts", y)
        for e in range(c["experts"]):
            x = x + jnp.where(chosen == e, best, 0.0).sum(-1)[..., None] * expert(f"{at}.experts.{e}", y)
    return cross_entropy(linear(w, "lm_head", rms_norm(w, "norm", x, c["eps"])), labels)


def mpt(w: Weights, c: Config, batch: Batch) -> Loss:
    ids, labels = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    slopes = 2.0 ** (-c["bias_max"] / c["heads"] * (1 + jnp.arange(c["heads"])))
    away = jnp.arange(c["seq"]) - jnp.arange(c["seq"])[:, None]

    def norm(name: str, x: jax.Array) -> jax.Array:
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + c["eps"]) * w[f"{name}.weight"]

    x = w["wte"][ids]
    for i in range(c["layers"]):
        at = f"blocks.{i}"
        y = jnp.clip(linear(w, f"{at}.attn.Wqkv", norm(f"{at}.norm_1", x)), -c["clip"], c["clip"])
        q, k, v = (heads(part, c["heads"]) for part in jnp.split(y, 3, -1))
        y = attention(q, k, v, causal(c["seq"]), bias=slopes[:, None, None] * away)
        x = x + linear(w, f"{at}.attn.out_proj", y)
        y = jax.nn.gelu(linear(w, f"{at}.ffn.up_proj", norm(f"{at}.norm_2", x)), approximate=False)
        x = x + linear(w, f"{at}.ffn.down_proj", y)
    return cross_entropy(norm("norm_f", x) @ w["wte"].T, labels)


def bert(w: Weights, c: Config, batch: Batch) -> Loss:
    at = "bert.embeddings"
    words = w[f"{at}.word_embeddings.weight"]
    x = words[batch["tokens"]] + w[f"{at}.token_type_embeddings.weight"][batch["token_types"]]
    x = layer_norm(w, f"{at}.LayerNorm", x + w[f"{at}.position_embeddings.weight"][: c["seq"]], c["eps"])
    seen = batch["mask"][:, None, None, :] != 0
    for i in range(c["layers"]):
        at = f"bert.encoder.layer.{i}"
        q, k, v = (heads(linear(w, f"{at}.attention.self.{part}", x), c["heads"]) for part in ("query", "key", "value"))
        y = linear(w, f"{at}.attention.output.dense", attention(q, k, v, seen))
        x = layer_norm(w, f"{at}.attention.output.LayerNorm", x + y, c["eps"])
        y = jax.nn.gelu(linear(w, f"{at}.intermediate.dense", x), approximate=False)
        x = layer_norm(w, f"{at}.output.LayerNorm", x + linear(w, f"{at}.output.dense", y), c["eps"])
    at = "cls.predictions.transform"
    x = layer_norm(w, f"{at}.LayerNorm", jax.nn.gelu(linear(w, f"{at}.dense", x), approximate=False), c["eps"])
    return cross_entropy(x @ words.T + w["bias"], batch["labels"])


TWINS: dict[str, Callable[[Weights, Config, Batch], Loss]] = {
    "bert": bert,
    "deepseek_v2": deepseek_v2,
    "gemma2": gemma2,
    "gpt_neox": gpt_neox,
    "mamba": mamba,
    "mixtral": mixtral,
    "mpt": mpt,
    "olmo2": olmo2,
    "resnet": resnet,
    "vit": vit,
}
