"""Programs made of what else ranks do, at random: statistics, rings, halos, masks by position, prefix sums, changes of layout."""

import jax
import jax.numpy as jnp
from jax import lax

from spmd_programs import ACTIVATIONS, Input, Place, either, forward, one_axis, pick, place, spec, train, weight


def statistics(rng):
    """Numbers about a sharded array: mean, deviation, norm, extremes, log-sum-exp."""
    where = one_axis(rng) if rng.random() < 0.6 else place(rng, "both")
    axes, rows, columns = where.all if rng.random() < 0.5 else where.data, 8 * pick(rng, 1, 2, 3), pick(rng, 4, 8)
    kinds = [pick(rng, "mean", "deviation", "norm", "largest", "smallest", "logsumexp", "share", "absolute") for _ in range(pick(rng, 1, 2, 3))]

    def one(c, x, kind):
        if kind == "mean":
            return c.psum(jnp.sum(x, 0), axes) / rows
        if kind == "deviation":
            mean = c.pmean(jnp.mean(x, 0), axes)
            return jnp.sqrt(c.pmean(jnp.mean((x - mean) ** 2, 0), axes) + 1e-3)
        if kind == "norm":
            return jnp.sqrt(c.psum(jnp.sum(x * x), axes))
        if kind == "largest":
            return c.pmax(jnp.max(x, 0), axes)
        if kind == "smallest":
            return c.pmin(jnp.min(x, 0), axes)
        if kind == "absolute":
            return c.psum(jnp.sum(jnp.abs(x)), axes)
        if kind == "share":
            return c.psum(jnp.sum((x > 0.3).astype(jnp.int32)), axes).astype(jnp.float32) / (rows * columns)
        top = c.pmax(jnp.max(x, 0), axes)
        return jnp.log(c.psum(jnp.sum(jnp.exp(x - top), 0), axes)) + top

    body = lambda c, x: tuple(one(c, x, kind) for kind in kinds)
    return forward("statistics, " + ", ".join(kinds), where, [Input("x", (rows, columns), spec(axes))], (spec(),) * len(kinds), body)


def softmax(rng):
    """A softmax or a normalization along a dimension that is shared."""
    where = place(rng, "model")
    rows, columns, kind = 8, 8 * pick(rng, 1, 2), pick(rng, "softmax", "log softmax", "rms norm", "layer norm")
    lies, axes = spec(where.data, where.model), where.model

    def body(c, x, scale):
        if "softmax" in kind:
            top = c.pmax(jnp.max(x, -1, keepdims=True), axes)
            total = c.psum(jnp.sum(jnp.exp(x - top), -1, keepdims=True), axes)
            return (jnp.exp(x - top) / total * scale if kind == "softmax" else (x - top - jnp.log(total)) * scale,)
        centred = x - c.psum(jnp.sum(x, -1, keepdims=True), axes) / columns if kind == "layer norm" else x
        variance = c.psum(jnp.sum(centred**2, -1, keepdims=True), axes) / columns
        return (centred * lax.rsqrt(variance + 1e-5) * scale,)

    return forward(f"{kind} of a shared dimension", where, [Input("x", (rows, columns), lies), Input("scale", (columns,), spec(axes))], (lies,), body)


def batch_norm(rng):
    """Batch normalization with statistics over all ranks, and running averages of them."""
    where = one_axis(rng) if rng.random() < 0.5 else place(rng, "data")
    axes, rows, columns, way = where.data, 8 * pick(rng, 2, 3), pick(rng, 4, 8), pick(rng, "two passes", "squares", "sums")

    def normalized(c, x, w):
        if way == "sums":
            mean = c.psum(jnp.sum(x, 0), axes) / rows
            variance = c.psum(jnp.sum((x - mean) ** 2, 0), axes) / rows
        else:
            mean = c.pmean(jnp.mean(x, 0), axes)
            variance = c.pmean(jnp.mean((x - mean) ** 2 if way == "two passes" else x * x, 0), axes)
            variance = variance if way == "two passes" else variance - mean**2
        return (x - mean) * lax.rsqrt(variance + 1e-3) * w["scale"] + w["shift"], mean, variance

    def body(c, scale, shift, mean, variance, x):
        y, own, square = normalized(c, x, {"scale": scale, "shift": shift})
        return y, 0.9 * mean + 0.1 * own, 0.9 * variance + 0.1 * square

    inputs = [Input(name, (columns,), spec()) for name in ("scale", "shift", "mean", "variance")]
    lies = spec(axes)
    return forward(f"batch norm, {way}", where, [*inputs, Input("x", (rows, columns), lies)], (lies, spec(), spec()), body)


def convolution(rng):
    """A convolution along a dimension that is shared, whose borders come from neighbours."""
    where = one_axis(rng)
    axes, length, channels = where.data, 8 * pick(rng, 2, 3), pick(rng, 2, 4)
    around, causal = rng.random() < 0.5, rng.random() < 0.5
    act = pick(rng, *ACTIVATIONS)

    def apply(c, w, x):
        size, own = c.size(axes), c.index(axes, x.shape[0])
        left = c.shift(x[-1:], axes)
        left = left if around else jnp.where(own > 0, left, 0.0)
        taps = [jnp.concatenate([left, x[:-1]]), x]
        if not causal:
            right = c.shift(x[:1], axes, -1)
            right = right if around else jnp.where(own < size - 1, right, 0.0)
            taps.append(jnp.concatenate([x[1:], right]))
        return ACTIVATIONS[act](sum(tap @ w["taps"][at] for at, tap in enumerate(taps)))

    weights = [weight("taps", (len("lrx") - causal, channels, channels), spec())]
    x, y = Input("x", (length, channels), spec(axes)), Input("y", (length, channels), spec(axes))
    return either(rng, "convolution with halo", where, weights, [x], apply, y, pick(rng, "gradients", "sgd", "clip"))


def rings(rng):
    """A product of which one operand goes around a ring of ranks."""
    where = one_axis(rng)
    axes, rows, inner, columns = where.data, 8 * pick(rng, 1, 2), 8 * pick(rng, 1, 2), 8
    gathers = rng.random() < 0.5

    def gathered(c, x, w):
        """Each rank has columns of `w`; rows of `x` come by."""
        size, own = c.size(axes), c.index(axes, x.shape[0])
        y, held = jnp.zeros((x.shape[0] * size, w.shape[1])), x
        for step in range(size):
            y = lax.dynamic_update_slice_in_dim(y, held @ w, (own - step) % size * x.shape[0], 0)
            held = c.shift(held, axes) if step < size - 1 else held
        return (y,)

    def contracted(c, x, w):
        """Each rank has rows of `w`, and reads the columns of `x` that belong to those that come by."""
        size, own = c.size(axes), c.index(axes, x.shape[0])
        y, held = 0.0, w
        for step in range(size):
            part = lax.dynamic_slice_in_dim(x, (own - step) % size * w.shape[0], w.shape[0], 1)
            y = y + part @ held
            held = c.shift(held, axes) if step < size - 1 else held
        return (y,)

    if gathers:
        inputs = [Input("x", (rows, inner), spec(axes)), Input("w", (inner, columns), spec(None, axes))]
        return forward("ring, rows gathered", where, inputs, (spec(None, axes),), gathered)
    inputs = [Input("x", (rows, inner), spec(axes)), Input("w", (inner, columns), spec(axes))]
    return forward("ring, rows of weights", where, inputs, (spec(axes),), contracted)


def prefix_sums(rng):
    """Sums, maxima or counts of all before, along a dimension that is shared."""
    where = one_axis(rng)
    axes, length, columns = where.data, 8 * pick(rng, 2, 3), pick(rng, 2, 4)
    kind, way = pick(rng, "sum", "count", "mean"), pick(rng, "mask", "product")

    def body(c, x):
        values = (x > 0).astype(jnp.float32) if kind == "count" else x
        own = jnp.cumsum(values, 0)
        totals = c.gather(own[-1:], axes, 0)
        before = jnp.arange(totals.shape[0]) < c.index(axes, x.shape[0])
        earlier = jnp.sum(jnp.where(before[:, None], totals, 0.0), 0) if way == "mask" else before.astype(jnp.float32) @ totals
        if kind == "mean":
            at = c.index(axes, x.shape[0]) * x.shape[0] + jnp.arange(x.shape[0]) + 1
            return ((own + earlier) / at[:, None].astype(jnp.float32),)
        return (own + earlier,)

    # Alone, nothing comes before.
    return forward(f"prefix sums, {kind}", where, [Input("x", (length, columns), spec(axes))], (spec(axes),), body)


def positions(rng):
    """What depends on where an element lies: encodings, masks, dropout by position, rows of a table."""
    where = one_axis(rng) if rng.random() < 0.6 else place(rng, "model")
    axes, length, hidden = where.model, 8 * pick(rng, 2, 3), 8
    kind = pick(rng, "sinusoid", "mask", "padding", "table", "decay", "alternating")

    def apply(c, w, x):
        own = x.shape[0]
        first = c.index(axes, own) * own
        at = first + jnp.arange(own)
        if kind == "sinusoid":
            x = x + jnp.sin(at[:, None] * 0.7 ** jnp.arange(hidden)[None, :])
        elif kind == "mask":
            x = jnp.where((at * 7 % 5 > 1)[:, None], x * 2.0, 0.0)
        elif kind == "padding":
            x = jnp.where((at < length - 5)[:, None], x, 0.0)
        elif kind == "table":
            x = x + lax.dynamic_slice_in_dim(w["table"], first, own, 0)
        elif kind == "decay":
            x = x * jnp.exp(-0.1 * at.astype(jnp.float32))[:, None]
        else:
            x = x * jnp.where(at % 2 == 0, 1.0, -1.0)[:, None]
        return x @ w["w"]

    weights = [weight("w", (hidden, hidden), spec())] + ([weight("table", (length, hidden), spec())] if kind == "table" else [])
    lies = spec(axes)
    alone = Place(where.mesh, axes)
    x, y = Input("x", (length, hidden), lies), Input("y", (length, hidden), lies)
    return either(rng, f"positions, {kind}", alone, weights, [x], apply, y, pick(rng, "gradients", "sgd"))


def next_tokens(rng):
    """The loss of predicting what comes next in a sequence that is shared: labels come from the neighbour."""
    where = one_axis(rng)
    axes, length, vocab, hidden = where.data, 8 * pick(rng, 1, 2), 8, 8

    def loss(c, w, tokens):
        after = c.shift(tokens[:1], axes, -1)
        labels = jnp.concatenate([tokens[1:], after])
        at = c.index(axes, tokens.shape[0]) * tokens.shape[0] + jnp.arange(tokens.shape[0])
        counts = (at < length - 1).astype(jnp.float32)
        logits = w["table"][tokens] @ w["head"]
        each = jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
        return jnp.sum(each * counts) / (length - 1)

    weights = [weight("table", (vocab, hidden), spec()), weight("head", (hidden, vocab), spec())]
    return train(rng, "next tokens", where, weights, [Input("tokens", (length,), spec(axes), below=vocab)], loss)


def counted_loss(rng):
    """A mean over what counts, and how often the largest is right."""
    where = one_axis(rng) if rng.random() < 0.5 else place(rng, "data")
    axes, rows, hidden, classes = where.data, 8 * pick(rng, 2, 3), 8, 6

    def body(c, w, x, labels):
        logits = x @ w
        counts = labels > 0
        each = jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]
        number = c.psum(jnp.sum(counts.astype(jnp.int32)), axes)
        right = c.psum(jnp.sum(jnp.where(counts, jnp.argmax(logits, -1) == labels, False).astype(jnp.float32)), axes)
        total = c.psum(jnp.sum(jnp.where(counts, each, 0.0)), axes)
        scale = jnp.maximum(number, 1).astype(jnp.float32)
        return total / scale, right / scale, number

    inputs = [Input("w", (hidden, classes), spec()), Input("x", (rows, hidden), spec(axes)), Input("labels", (rows,), spec(axes), below=classes)]
    return forward("counted loss", where, inputs, (spec(),) * 3, body)


def argmax(rng):
    """The largest of a dimension that is shared, and where it is."""
    where = place(rng, "model")
    rows, columns = 8, 8 * pick(rng, 1, 2, 3)

    def body(c, x):
        own = jnp.max(x, -1)
        top = c.pmax(own, where.model)
        at = c.index(where.model, x.shape[1]) * x.shape[1] + jnp.argmax(x, -1).astype(jnp.int32)
        return top, c.pmin(jnp.where(own == top, at, columns), where.model)

    return forward("argmax of a shared dimension", where, [Input("x", (rows, columns), spec(where.data, where.model))], (spec(where.data),) * 2, body)


def layouts(rng):
    """An array whose layout changes, with something done to it in each."""
    where = one_axis(rng)
    axes, rows, columns = where.data, 8 * pick(rng, 1, 2), 8 * pick(rng, 1, 2)
    chain = [pick(rng, "exchange", "whole", "act", "own", "roll") for _ in range(pick(rng, 2, 3, 4))]
    act = pick(rng, "tanh", "silu")

    def body(c, x):
        lies = 0
        for way in chain:
            if way == "exchange" and lies is not None:
                x, lies = c.exchange(x, axes, 1 - lies, lies), 1 - lies
            elif way == "whole" and lies is not None:
                x, lies = c.gather(x, axes, lies), None
            elif way == "own" and lies is None:
                x, lies = c.own(x, axes, 1), 1
            elif way == "roll" and lies is not None:
                border = lax.slice_in_dim(x, x.shape[lies] - 1, None, axis=lies)
                x = jnp.concatenate([c.shift(border, axes), lax.slice_in_dim(x, 0, x.shape[lies] - 1, axis=lies)], lies)
            else:
                x = ACTIVATIONS[act](x) if lies is None else x * 2.0 - 1.0
        return (x,)

    lies = 0
    for way in chain:
        if way == "exchange" and lies is not None:
            lies = 1 - lies
        elif way == "whole":
            lies = None
        elif way == "own" and lies is None:
            lies = 1
    result = spec() if lies is None else spec(axes) if lies == 0 else spec(None, axes)
    return forward("layouts, " + ", ".join(chain), where, [Input("x", (rows, columns), spec(axes))], (result,), body)


def products(rng):
    """Products whose contracted dimension is shared, in different orders, with their sums made at once or in parts."""
    where = place(rng, "both")
    rows, inner, columns, kind = 8, 8 * pick(rng, 1, 2), 8, pick(rng, "summed", "scattered", "chain", "gathered")

    def body(c, x, w, v):
        if kind == "summed":
            return (jnp.tanh(c.psum(x @ w, where.model)) @ v,)
        if kind == "scattered":
            return (jnp.tanh(c.scatter(x @ w, where.model, 1)) * 2.0,)
        if kind == "gathered":
            return (c.gather(jnp.tanh(c.psum(x @ w, where.model)), where.data, 0) @ v,)
        return (c.psum(jnp.sum(jnp.tanh(c.psum(x @ w, where.model)) @ v), where.data) / rows,)

    results = {"summed": spec(where.data), "scattered": spec(where.data, where.model), "gathered": spec(), "chain": spec()}
    inputs = [Input("x", (rows, inner), spec(where.data, where.model)), Input("w", (inner, columns), spec(where.model))]
    inputs += [Input("v", (columns, columns), spec())]
    return forward(f"products, {kind}", where, inputs, (results[kind],), body)


def scanned(rng):
    """Layers in a loop, whose weights are stacked."""
    where = place(rng, "both")
    rows, hidden, ffn, layers = 8, 8, 16, pick(rng, 2, 3)

    def apply(c, w, x):
        def layer(x, own):
            up, down = own
            return x + c.leave(jnp.tanh(c.enter(x, where.model) @ up) @ down, where.model), None

        return lax.scan(layer, x, (w["up"], w["down"]))[0]

    weights = [weight("up", (layers, hidden, ffn), spec(None, None, where.model)), weight("down", (layers, ffn, hidden), spec(None, where.model))]
    x, y = (Input(name, (rows, hidden), spec(where.data)) for name in "xy")
    return either(rng, "layers in a loop", where, weights, [x], apply, y, pick(rng, "gradients", "sgd"))


PATTERNS = [statistics, statistics, softmax, batch_norm, convolution, rings, prefix_sums, positions, positions]
PATTERNS += [next_tokens, counted_loss, argmax, layouts, products, scanned]
