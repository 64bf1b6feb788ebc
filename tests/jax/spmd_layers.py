"""Programs made of the layers of language models, at random."""

import jax
import jax.numpy as jnp
from jax import lax

from spmd_programs import ACTIVATIONS, Input, Place, either, one_axis, pick, place, spec, train, weight


def rms(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def layer_norm(x, scale):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5) * scale


NORMS = {"rms": rms, "layer": layer_norm, "none": lambda x, _: x}


def mlp(rng):
    """Megatron's MLP: columns, then rows."""
    where = place(rng)
    rows, hidden, ffn = 8 * pick(rng, 1, 2), 8 * pick(rng, 1, 2), 8 * pick(rng, 2, 4)
    act, norm = pick(rng, *ACTIVATIONS), pick(rng, *NORMS)
    gated, biased, layers = rng.random() < 0.4, rng.random() < 0.4, pick(rng, 1, 1, 2)
    weights = []
    for at in range(layers):
        weights += [weight(f"up{at}", (hidden, ffn), spec(None, where.model)), weight(f"down{at}", (ffn, hidden), spec(where.model, None))]
        weights += [weight(f"gate{at}", (hidden, ffn), spec(None, where.model))] if gated else []
        weights += [weight(f"bias{at}", (ffn,), spec(where.model))] if biased else []
        weights += [weight(f"norm{at}", (hidden,), spec(None))] if norm != "none" and where.data else []

    def apply(c, w, x):
        for at in range(layers):
            own = NORMS[norm](x, w.get(f"norm{at}", 1.0))
            own = c.enter(own, where.model)
            up = own @ w[f"up{at}"] + (w[f"bias{at}"] if biased else 0)
            up = ACTIVATIONS[act](own @ w[f"gate{at}"]) * up if gated else ACTIVATIONS[act](up)
            x = x + c.leave(up @ w[f"down{at}"], where.model)
        return x

    update = None if all(own.shape[0] % 8 == 0 for own in weights) else "sgd"
    result = Input("y", (rows, hidden), spec(where.data, None))
    return either(rng, f"mlp, {act}", where, weights, [Input("x", (rows, hidden), spec(where.data, None))], apply, result, update)


def sequence_parallel(rng):
    """An MLP between which the sequence is shared: gathered before, reduced and scattered after."""
    where = place(rng, "model")
    rows, length, hidden, ffn = where_size(where, where.data), 8 * pick(rng, 1, 2), 8, 8 * pick(rng, 2, 3)
    act, norm = pick(rng, *ACTIVATIONS), pick(rng, "rms", "layer")
    weights = [weight("up", (hidden, ffn), spec(None, where.model)), weight("down", (ffn, hidden), spec(where.model, None))]
    weights += [weight("scale", (hidden,), spec(None))]
    lies = spec(where.data, where.model, None)

    def apply(c, w, x):
        own = c.gather(NORMS[norm](x, c.enter(w["scale"], where.model)), where.model, 1)
        return x + c.scatter(ACTIVATIONS[act](own @ w["up"]) @ w["down"], where.model, 1)

    x, y = Input("x", (rows, length, hidden), lies), Input("y", (rows, length, hidden), lies)
    return either(rng, f"sequence parallel mlp, {act}", where, weights, [x], apply, y)


def where_size(where, axes):
    size = 2
    for axis in axes:
        size *= where.mesh[axis]
    return size


def attended(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1] * 1.0)
    scores = scores if mask is None else jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


def causal(rows, columns, first=0):
    return first + lax.broadcasted_iota(jnp.int32, (rows, columns), 0) >= lax.broadcasted_iota(jnp.int32, (rows, columns), 1)


def attention_heads(rng):
    """Attention of which each rank has some heads."""
    where = place(rng, "model")
    rows, length, hidden, heads, size = where_size(where, where.data) // 2, pick(rng, 4, 6), 8, 8, pick(rng, 2, 4)
    masked, fused = rng.random() < 0.6, rng.random() < 0.4
    qkv = [weight("qkv", (hidden, 3, heads, size), spec(None, None, where.model))] if fused else [
        weight(name, (hidden, heads * size), spec(None, where.model)) for name in "qkv"
    ]
    weights = [*qkv, weight("o", (heads * size, hidden), spec(where.model, None))]

    def apply(c, w, x):
        own = c.enter(x, where.model)
        split = lambda y: y.reshape(*y.shape[:2], -1, size)
        q, k, v = jnp.moveaxis(jnp.einsum("bsh,hkgd->bskgd", own, w["qkv"]), 2, 0) if fused else (split(own @ w[name]) for name in "qkv")
        mixed = attended(q, k, v, causal(length, length) if masked else None)
        return x + c.leave(mixed.reshape(*mixed.shape[:2], -1) @ w["o"], where.model)

    lies = spec(where.data)
    x, y = Input("x", (rows, length, hidden), lies), Input("y", (rows, length, hidden), lies)
    return either(rng, "attention by heads", where, weights, [x], apply, y)


def attention_sequence(rng):
    """Attention of a sequence that is shared: keys and values are gathered, or sequence and heads change places."""
    where = one_axis(rng)
    axes, length, heads, size = where.data, 8 * pick(rng, 1, 2), 8, pick(rng, 2, 4)
    way, masked, rotary = pick(rng, "gathered", "exchanged"), rng.random() < 0.6, rng.random() < 0.4
    weights = [weight("w", (heads * size, 3 * heads * size), spec(None, None))]

    def rotated(c, x):
        first = c.index(axes, x.shape[1]) * x.shape[1]
        at = (first + jnp.arange(x.shape[1])).astype(jnp.float32)
        angle = at[:, None] * (0.5 ** jnp.arange(size // 2))[None, :]
        cos, sin = jnp.cos(angle)[None, :, None, :], jnp.sin(angle)[None, :, None, :]
        low, high = jnp.split(x, 2, -1)
        return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1)

    def apply(c, w, x):
        q, k, v = (part.reshape(1, part.shape[0], heads, size) for part in jnp.split(x @ w["w"], 3, -1))
        if rotary:
            q, k = rotated(c, q), rotated(c, k)
        if way == "gathered":
            first = c.index(axes, q.shape[1]) * q.shape[1] if masked else 0
            k, v = c.gather(k, axes, 1), c.gather(v, axes, 1)
            mixed = attended(q, k, v, causal(q.shape[1], length, first) if masked else None)
        else:
            q, k, v = (c.exchange(part, axes, 2, 1) for part in (q, k, v))
            mixed = c.exchange(attended(q, k, v, causal(length, length) if masked else None), axes, 1, 2)
        return x + mixed.reshape(x.shape)

    lies = spec(axes, None)
    x, y = Input("x", (length, heads * size), lies), Input("y", (length, heads * size), lies)
    return either(rng, f"attention, sequence {way}", where, weights, [x], apply, y)


def embedded(c, axes, table, tokens):
    """Rows of a table of which each rank has some."""
    first, rows = c.index(axes, table.shape[0]) * table.shape[0], table.shape[0]
    own = tokens - first
    inside = (own >= 0) & (own < rows)
    found = jnp.take(table, jnp.clip(own, 0, rows - 1), axis=0)
    return c.leave(jnp.where(inside[..., None], found, 0.0), axes)


def one_hot_embedded(c, axes, table, tokens):
    ids = c.index(axes, table.shape[0]) * table.shape[0] + jnp.arange(table.shape[0])
    return c.leave((tokens[..., None] == ids).astype(jnp.float32) @ table, axes)


def embedding(rng):
    """An embedding whose table is shared by rows."""
    where = place(rng, "model")
    rows, length, vocab, hidden = where_size(where, where.data), 4, 16 * pick(rng, 1, 2), 8
    look_up = pick(rng, embedded, embedded, one_hot_embedded)
    tokens = Input("tokens", (rows, length), spec(where.data), below=vocab)
    apply = lambda c, w, tokens: look_up(c, where.model, w["table"], tokens)
    y = Input("y", (rows, length, hidden), spec(where.data))
    return either(rng, "embedding", where, [weight("table", (vocab, hidden), spec(where.model, None))], [tokens], apply, y)


def cross_entropy(rng):
    """The loss of logits whose vocabulary is shared, with labels that may not count."""
    where = place(rng, "model")
    rows, vocab, hidden = 8 * pick(rng, 1, 2), 8 * pick(rng, 2, 3), 8
    counted, smooth, one_hot = rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.4
    tied = rng.random() < 0.3

    def loss(c, w, x, labels, *tokens):
        x = embedded(c, where.model, w["head"].T, tokens[0]) if tied else x
        logits = c.enter(x, where.model) @ w["head"]
        own = logits.shape[1]
        top = c.pmax(lax.stop_gradient(jnp.max(logits, -1)), where.model)
        total = c.leave(jnp.sum(jnp.exp(logits - top[:, None]), -1), where.model)
        at = labels - c.index(where.model, own) * own
        if one_hot:
            picked = jnp.sum(jnp.where(at[:, None] == jnp.arange(own), logits, 0.0), -1)
        else:
            inside = (at >= 0) & (at < own)
            picked = jnp.where(inside, jnp.take_along_axis(logits, jnp.clip(at, 0, own - 1)[:, None], 1)[:, 0], 0.0)
        each = jnp.log(total) + top - c.leave(picked, where.model)
        if smooth:
            each = each + 0.1 * (jnp.log(total) + top - c.leave(jnp.sum(logits, -1), where.model) / vocab)
        if not counted:
            return jnp.sum(each) / rows
        counts = (labels % 3 != 0).astype(jnp.float32)
        return jnp.sum(each * counts) / jnp.maximum(c.psum(jnp.sum(counts), where.data), 1.0)

    batch = [Input("x", (rows, hidden), spec(where.data)), Input("labels", (rows,), spec(where.data), below=vocab)]
    batch += [Input("tokens", (rows,), spec(where.data), below=vocab)] if tied else []
    return train(rng, "cross entropy", where, [weight("head", (hidden, vocab), spec(None, where.model))], batch, loss)


def fsdp(rng):
    """Weights that are gathered where they are read; their gradients are reduced and scattered."""
    where = one_axis(rng)
    axes, rows, hidden, layers = where.data, 8 * pick(rng, 1, 2), pick(rng, 8, 16), pick(rng, 1, 2, 3)
    act, second = pick(rng, *ACTIVATIONS), rng.random() < 0.4
    lies = spec(None, axes) if second else spec(axes, None)
    weights = [weight(f"w{at}", (hidden, hidden), lies) for at in range(layers)]

    def apply(c, w, x):
        for own in w.values():
            x = ACTIVATIONS[act](x @ c.gather(own, axes, 1 if second else 0))
        return x

    def body_loss(c, w, x, y):
        return jnp.mean((apply(c, w, x) - y) ** 2) * (x.shape[0] / rows)

    # The gradients are sums already.
    alone = Place(where.mesh)
    batch = [Input("x", (rows, hidden), spec(axes)), Input("y", (rows, hidden), spec(axes))]
    loss = lambda c, w, x, y: c.leave(body_loss(c, w, x, y), axes)
    return train(rng, f"fsdp, {act}", alone, weights, batch, loss, pick(rng, "gradients", "sgd", "clip", "momentum"))


def experts(rng):
    """Experts shared among ranks: each computes what its own have, masked, or tokens are sent to them."""
    where = one_axis(rng)
    axes, count, tokens, hidden, ffn = where.data, 8 * pick(rng, 1, 2), 32, 8, 8
    capacity, sent, gradient = 3, rng.random() < 0.6, rng.random() < 0.6
    weights = [weight("up", (count, hidden, ffn), spec(axes)), weight("down", (count, ffn, hidden), spec(axes))]
    router = Input("router", (hidden, count), spec())

    def expert(w, x):
        return jnp.einsum("ecf,efh->ech", jax.nn.relu(jnp.einsum("ech,ehf->ecf", x, w["up"])), w["down"])

    def masked(c, w, router, x):
        probs = jax.nn.softmax(x @ router, -1)
        chosen = jnp.where(probs == jnp.max(probs, -1, keepdims=True), probs, 0.0)
        mine = c.own(chosen, axes, 1)
        each = expert(w, jnp.broadcast_to(c.enter(x, axes), (mine.shape[1], *x.shape)))
        return c.leave(jnp.einsum("te,eth->th", mine, each), axes)

    def dispatched(c, w, router, x):
        groups = 8 // c.size(axes)
        x = x.reshape(groups, -1, hidden)
        probs = jax.nn.softmax(x @ router, -1)
        chosen = jax.nn.one_hot(jnp.argmax(probs, -1), count)
        at = (jnp.cumsum(chosen, 1) - 1) * chosen
        slots = jax.nn.one_hot(at, capacity) * chosen[..., None]
        sent = jnp.einsum("gtec,gth->egch", slots, x).reshape(count, groups * capacity, hidden)
        back = c.exchange(expert(w, c.exchange(sent, axes, 0, 1)), axes, 1, 0)
        gate = jnp.max(probs, -1, keepdims=True)
        return (jnp.einsum("gtec,egch->gth", slots, back.reshape(count, groups, capacity, hidden)) * gate).reshape(-1, hidden)

    lies = spec(axes, None) if sent else spec(None, None)
    apply = dispatched if sent else masked
    x, y = Input("x", (tokens, hidden), lies), Input("y", (tokens, hidden), lies)
    alone = Place(where.mesh)
    calls = lambda c, w, router, x: apply(c, w, router, x)
    name = "experts, tokens sent" if sent else "experts, masked"
    return either(rng, name, alone, weights, [router, x], calls, y, pick(rng, "gradients", "sgd"))


LAYERS = [mlp, mlp, mlp, sequence_parallel, sequence_parallel, attention_heads, attention_heads, attention_sequence, attention_sequence]
LAYERS += [embedding, embedding, cross_entropy, cross_entropy, fsdp, fsdp, experts]
