"""Llama and GPT-2 in plain `jax.numpy`, with the parameter names, shapes and formulas of Hugging Face Transformers.

Each model is `init(config, rng) -> params` and `logits(params, ids, config) -> [B, S, vocab]`, where `params` is a flat
dict from state-dict name to array and `ids` is s32[B, S]. The dtype of the parameters is the dtype of the computation.
"""

import jax
import jax.numpy as jnp
import numpy as np

IGNORE = -100


def linear(x, weight):
    """`x` times the transpose of `weight`, which is stored [out, in]."""
    return x @ weight.T


def causal_attention(q, k, v):
    """Attention over [B, heads, S, D] arrays: each position sees itself and what is before it."""
    length, width = q.shape[-2:]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(width)
    visible = jnp.tril(jnp.ones((length, length), bool))
    return jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), axis=-1) @ v


def split_heads(x, heads):
    """[B, S, heads * D] to [B, heads, S, D]."""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).swapaxes(1, 2)


def merge_heads(x):
    """[B, heads, S, D] to [B, S, heads * D]."""
    batch, heads, length, width = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * width)


class Llama:
    """Llama: RMS norm, rotary positions by halves, grouped kv heads, SwiGLU, untied output; weights [out, in]."""

    @staticmethod
    def shapes(c):
        hidden, ffn = c["hidden"], c["ffn"]
        kv = hidden // c["heads"] * c["kv_heads"]
        shapes = {"model.embed_tokens.weight": (c["vocab"], hidden)}
        for n in range(c["layers"]):
            layer = f"model.layers.{n}."
            shapes |= {
                layer + "input_layernorm.weight": (hidden,),
                layer + "self_attn.q_proj.weight": (hidden, hidden),
                layer + "self_attn.k_proj.weight": (kv, hidden),
                layer + "self_attn.v_proj.weight": (kv, hidden),
                layer + "self_attn.o_proj.weight": (hidden, hidden),
                layer + "post_attention_layernorm.weight": (hidden,),
                layer + "mlp.gate_proj.weight": (ffn, hidden),
                layer + "mlp.up_proj.weight": (ffn, hidden),
                layer + "mlp.down_proj.weight": (hidden, ffn),
            }
        return shapes | {"model.norm.weight": (hidden,), "lm_head.weight": (c["vocab"], hidden)}

    @staticmethod
    def is_scale(name):
        return name.endswith("norm.weight")

    @staticmethod
    def zero_gradients(c):
        """Parts of parameters whose gradient is zero in exact arithmetic: name -> [first, last) of the last dim."""
        return {}

    @staticmethod
    def logits(p, ids, c):
        def rms_norm(x, name):
            return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + c["eps"]) * p[name + ".weight"]

        def rotate(x):
            half = x.shape[-1] // 2
            frequency = c["rope_theta"] ** (-jnp.arange(half, dtype=x.dtype) / half)
            angle = jnp.arange(x.shape[-2], dtype=x.dtype)[:, None] * jnp.tile(frequency, 2)
            swapped = jnp.concatenate([-x[..., half:], x[..., :half]], axis=-1)
            return x * jnp.cos(angle) + swapped * jnp.sin(angle)

        def attention(x, name):
            q, k, v = (linear(x, p[f"{name}.{part}_proj.weight"]) for part in "qkv")
            q = rotate(split_heads(q, c["heads"]))
            k = rotate(split_heads(k, c["kv_heads"]))
            v = split_heads(v, c["kv_heads"])
            k, v = (jnp.repeat(a, c["heads"] // c["kv_heads"], axis=1) for a in (k, v))
            return linear(merge_heads(causal_attention(q, k, v)), p[name + ".o_proj.weight"])

        def mlp(x, name):
            gate, up = (linear(x, p[f"{name}.{part}_proj.weight"]) for part in ("gate", "up"))
            return linear(jax.nn.silu(gate) * up, p[name + ".down_proj.weight"])

        x = p["model.embed_tokens.weight"][ids]
        for n in range(c["layers"]):
            layer = f"model.layers.{n}."
            x = x + attention(rms_norm(x, layer + "input_layernorm"), layer + "self_attn")
            x = x + mlp(rms_norm(x, layer + "post_attention_layernorm"), layer + "mlp")
        return linear(rms_norm(x, "model.norm"), p["lm_head.weight"])


class Gpt2:
    """GPT-2: layer norm, learned positions, GELU in its tanh form, output tied to `wte`; projections [in, out]."""

    @staticmethod
    def shapes(c):
        hidden = c["hidden"]
        shapes = {"transformer.wte.weight": (c["vocab"], hidden), "transformer.wpe.weight": (c["positions"], hidden)}
        for n in range(c["layers"]):
            layer = f"transformer.h.{n}."
            shapes |= {
                layer + "ln_1.weight": (hidden,),
                layer + "ln_1.bias": (hidden,),
                layer + "attn.c_attn.weight": (hidden, 3 * hidden),
                layer + "attn.c_attn.bias": (3 * hidden,),
                layer + "attn.c_proj.weight": (hidden, hidden),
                layer + "attn.c_proj.bias": (hidden,),
                layer + "ln_2.weight": (hidden,),
                layer + "ln_2.bias": (hidden,),
                layer + "mlp.c_fc.weight": (hidden, 4 * hidden),
                layer + "mlp.c_fc.bias": (4 * hidden,),
                layer + "mlp.c_proj.weight": (4 * hidden, hidden),
                layer + "mlp.c_proj.bias": (hidden,),
            }
        return shapes | {"transformer.ln_f.weight": (hidden,), "transformer.ln_f.bias": (hidden,)}

    @staticmethod
    def is_scale(name):
        return name.endswith((".ln_1.weight", ".ln_2.weight", ".ln_f.weight"))

    @staticmethod
    def zero_gradients(c):
        """The key bias moves every score of a query alike, which softmax ignores."""
        hidden = c["hidden"]
        return {f"transformer.h.{n}.attn.c_attn.bias": [hidden, 2 * hidden] for n in range(c["layers"])}

    @staticmethod
    def logits(p, ids, c):
        def layer_norm(x, name):
            centred = x - jnp.mean(x, axis=-1, keepdims=True)
            variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
            return centred * jax.lax.rsqrt(variance + c["eps"]) * p[name + ".weight"] + p[name + ".bias"]

        def project(x, name):
            return x @ p[name + ".weight"] + p[name + ".bias"]

        def attention(x, name):
            q, k, v = (split_heads(a, c["heads"]) for a in jnp.split(project(x, name + ".c_attn"), 3, axis=-1))
            return project(merge_heads(causal_attention(q, k, v)), name + ".c_proj")

        def gelu(x):
            return 0.5 * x * (1 + jnp.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

        wte = p["transformer.wte.weight"]
        x = wte[ids] + p["transformer.wpe.weight"][: ids.shape[1]]
        for n in range(c["layers"]):
            layer = f"transformer.h.{n}."
            x = x + attention(layer_norm(x, layer + "ln_1"), layer + "attn")
            x = x + project(gelu(project(layer_norm(x, layer + "ln_2"), layer + "mlp.c_fc")), layer + "mlp.c_proj")
        return linear(layer_norm(x, "transformer.ln_f"), wte)


MODELS = {"llama": Llama, "gpt2": Gpt2}


def init(model, config, rng):
    """Random parameters as f32, wide enough that attention is far from uniform and every gradient matters."""
    def draw(name, shape):
        noise = rng.standard_normal(shape)
        return (1 + 0.1 * noise if model.is_scale(name) else 0.2 * noise).astype(np.float32)

    return {name: draw(name, shape) for name, shape in model.shapes(config).items()}


def cross_entropy(logits, labels):
    """Sum of the token cross entropies and how many tokens counted; labels equal to -100 do not count."""
    counted = labels != IGNORE
    log_p = jax.nn.log_softmax(logits, axis=-1)
    picked = jnp.take_along_axis(log_p, jnp.where(counted, labels, 0)[..., None], axis=-1)[..., 0]
    return -jnp.sum(jnp.where(counted, picked, 0)), jnp.sum(counted, dtype=jnp.int32)


def loss(model, params, tokens, config):
    """The training loss of tokens s32[B, S+1]: mean over counted labels, with (loss_sum, count, logits) beside it."""
    logits = model.logits(params, tokens[:, :-1], config)
    loss_sum, count = cross_entropy(logits, tokens[:, 1:])
    return loss_sum / count, (loss_sum, count, logits)
