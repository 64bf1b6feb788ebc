"""Llama of `models/llama.hal` in Python."""

from __future__ import annotations

from math import sqrt

import halite
from halite import Model, Tensor, normal, ones, size

CONFIG = dict(vocab=256, hidden=64, layers=3, heads=4, kv_heads=2, ffn=176, seq=16, batch=2)
HEAD_DIM = CONFIG["hidden"] // CONFIG["heads"]
STD, EPS, THETA = 0.021, 1e-5, 10000.0


def named(key: str) -> halite.Size:
    return size(**{key: CONFIG[key]})


def build(*, shared: bool = True) -> halite.BuiltModel:
    """The model; its layers are calls of a function where that is `shared`."""
    batch, seq, layers = CONFIG["batch"], CONFIG["seq"], CONFIG["layers"]
    hidden, head_dim = named("hidden"), HEAD_DIM
    residual_std = STD / sqrt(2 * layers)
    m = Model("llama")
    for key, value in CONFIG.items():
        m.setting(key, value)

    def project(name: str, x: Tensor, width: int, columns: int, std: float = STD) -> Tensor:
        with m.scope(name):
            projected: Tensor = m.linear(x, m.param("weight", [width, columns], init=normal(std)))
            return projected

    def norm(name: str, x: Tensor) -> Tensor:
        with m.scope(name):
            scaled: Tensor = m.rms_norm(x, m.param("weight", [hidden], init=ones), eps=EPS)
            return scaled

    def attention(x: Tensor) -> Tensor:
        width = {key: size(**{key: CONFIG[key]}, head_dim=head_dim) for key in ("heads", "kv_heads")}
        q = project("q_proj", x, width["heads"], hidden)
        k = project("k_proj", x, width["kv_heads"], hidden)
        v = project("v_proj", x, width["kv_heads"], hidden)
        q = m.rope(q.reshape(batch, seq, CONFIG["heads"], head_dim), theta=THETA)
        k = m.rope(k.reshape(batch, seq, CONFIG["kv_heads"], head_dim), theta=THETA)
        v = v.reshape(batch, seq, CONFIG["kv_heads"], head_dim)
        o = m.causal_attention(q, k, v).reshape([batch, seq, CONFIG["hidden"]]).named("o")
        return project("o_proj", o, hidden, width["heads"], residual_std)

    def mlp(x: Tensor) -> Tensor:
        gate = project("gate_proj", x, named("ffn"), hidden)
        up = project("up_proj", x, named("ffn"), hidden)
        return project("down_proj", gate.silu() * up, hidden, named("ffn"), residual_std)

    def block(x: Tensor) -> Tensor:
        normed = norm("input_layernorm", x)
        with m.scope("self_attn"):
            x = (x + attention(normed)).named("x")
        normed = norm("post_attention_layernorm", x)
        with m.scope("mlp"):
            return x + mlp(normed)

    tokens = m.batch("tokens", "s32", [batch, seq + 1])
    layer = m.function(block) if shared else block
    with m.scope("model"):
        with m.scope("embed_tokens"):
            table = m.param("weight", [named("vocab"), hidden], init=normal(STD))
            x = m.embedding(tokens[:, :-1], table)
        for i in range(layers):
            with m.scope(f"layers.{i}"):
                x = layer(x)
        x = norm("norm", x)
    logits = project("lm_head", x, named("vocab"), hidden)
    m.output("logits", logits)
    loss, count = m.cross_entropy(logits, tokens[:, 1:])
    return m.finish(loss, count)
