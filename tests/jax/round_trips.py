"""Programs that JAX prints as StableHLO, read by Halite, written again, parsed by jaxlib and held to what JAX printed.

    pip install -r requirements.txt absl-py
    cargo build --release -p halite-stablehlo --example read
    python round_trips.py ../../target/release/examples/read

Programs are those of models, forward and with gradients, jitted with options, and single operations from random `jax.numpy` functions. Each
is lowered, printed, read, written, and parsed with jaxlib, which must verify it; then both have the same operations with the same types,
attributes and operands, and the same interface, by `structure.py`. `spellings.py` and the rules here say what may differ, each with its
reason; what is not in them is a difference, which is printed, and the exit code is 1. What is not read or not written is counted by why.
"""

import collections
import functools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import jaxlib
import models
import numpy as np
import spellings
from jax import lax
from operations import Operation, element
from structure import compared
from xla_modules import context, verified

CONFIG = {"vocab": 11, "hidden": 8, "layers": 2, "heads": 4, "kv_heads": 2, "ffn": 12, "rope_theta": 1e4, "eps": 1e-5, "positions": 16}
"""A configuration that both models take."""


def shape_of(kind):
    """The sizes of `tensor<4x8xf32>`."""
    return kind.removeprefix("tensor<").removesuffix(">").split("x")[:-1]


def stretched(op, enter):
    """A broadcast that stretches dimensions of size 1 as one of what is left without these."""
    if op.name != "stablehlo.broadcast_in_dim":
        return
    dims = [int(dim) for dim in re.findall(r"\d+", op.attributes["broadcast_dimensions"].split(":")[-1])] if ":" in op.attributes["broadcast_dimensions"] else []
    own, result = shape_of(op.operand_types[0]), shape_of(op.types[0])
    kept = [at for at, dim in enumerate(dims) if own[at] == result[dim]]
    if len(kept) < len(dims):
        narrow = f"tensor<{'x'.join([*(own[at] for at in kept), element(op.operand_types[0])])}>"
        op.operands = enter(Operation("stablehlo.reshape", op.operands, op.operand_types, [narrow], {}))
        op.operand_types = [narrow]
        left = ", ".join(str(dims[at]) for at in kept)
        op.attributes["broadcast_dimensions"] = f"array<i64: {left}>" if left else "array<i64>"


spellings.OPERATIONS.append(
    ("a dimension is stretched by a reshape and a broadcast", "HLO's `broadcast` adds dimensions and stretches none, so that Halite reads these two", stretched)
)


def model_programs():
    """Models, forward, as a loss and with gradients, of several types and options of `jit`."""
    for model in (models.Llama, models.Gpt2):
        for dtype in (jnp.float32, jnp.bfloat16, jnp.float64):
            params = {name: own.astype(dtype) for name, own in models.init(model, CONFIG, np.random.default_rng(0)).items()}
            tokens = np.zeros((2, 6), np.int32)
            loss = lambda params, tokens, model=model: models.loss(model, params, tokens, CONFIG)[0]
            forward = lambda params, tokens, model=model: model.logits(params, tokens, CONFIG)
            name = f"{model.__name__} {jnp.dtype(dtype).name}"
            yield f"{name}, forward", forward, (params, tokens), {}
            yield f"{name}, kept unused", forward, (params, tokens), {"keep_unused": True}
            yield f"{name}, loss", loss, (params, tokens), {}
            yield f"{name}, gradient", jax.grad(loss), (params, tokens), {}
            yield f"{name}, donated", jax.value_and_grad(loss), (params, tokens), {"donate_argnums": 0}
            yield f"{name}, remat", jax.grad(jax.checkpoint(loss)), (params, tokens), {}
            yield f"{name}, inlined", jax.jit(jax.grad(loss), inline=True), (params, tokens), {}
            yield f"{name}, mapped", jax.vmap(forward, (None, 0)), (params, tokens[None]), {}


def single_programs():
    """Operations by themselves."""
    x, y, at = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32), np.array([2, 0], np.int32)
    image, kernel = np.ones((1, 6, 6, 2), np.float32), np.ones((3, 3, 2, 4), np.float32)
    convolve = functools.partial(lax.conv_general_dilated, dimension_numbers=("NHWC", "HWIO", "NHWC"), window_strides=(1, 2))
    functions = {
        "product": (jnp.matmul, x, y), "most precise product": (functools.partial(jnp.matmul, precision="highest"), x, y),
        "einsum": (lambda x, y: jnp.einsum("bi,ij->jb", x, y), x, y), "convolution": (functools.partial(convolve, padding="SAME"), image, kernel),
        "gather": (lambda x, at: x[at], x, at), "scatter": (lambda x, at: x.at[at].add(1.0), x, at),
        "scatter of extremes": (lambda x, at: x.at[at].max(2.0), x, at), "take_along_axis": (lambda x: jnp.take_along_axis(x, jnp.argsort(x), 1), x),
        "slice": (lambda x: x[1:, ::2], x), "dynamic slice": (lambda x, at: lax.dynamic_slice(x, at, (2, 2)), x, at),
        "update": (lambda x, at: lax.dynamic_update_slice(x, x[:2, :2], at), x, at), "pad": (lambda x: jnp.pad(x, 1), x),
        "concatenate": (lambda x: jnp.concatenate([x, x]), x), "sort": (jnp.sort, x), "top_k": (lambda x: lax.top_k(x, 2), x),
        "argmax": (jnp.argmax, x), "cumsum": (jnp.cumsum, x), "erf": (jax.scipy.special.erf, x), "gelu": (jax.nn.gelu, x),
        "softmax": (jax.nn.softmax, x), "logsumexp": (jax.nn.logsumexp, x), "norm": (lambda x: x / jnp.linalg.norm(x), x),
        "convert": (lambda x: x.astype(jnp.bfloat16).astype(jnp.int8), x), "reverse": (jnp.flip, x), "triangle": (jnp.tril, x),
        "scan": (lambda x: lax.scan(lambda c, row: (c + row, c), x[0], x), x), "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x)), x),
        "cond": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), x), "random bits": (lambda key: jax.random.bits(key, (3,)), np.array([0, 1], np.uint32)),
        "pooling": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), image),
        "comparisons": (lambda x: (x > 0) & (x <= 2) | (x != 1), x), "integers": (lambda at: (at << 1) % 3 // 2, at), "power": (lambda x: x**2.5 + x**3, x),
    }
    for name, (function, *args) in functions.items():
        yield name, function, tuple(args), {}


def compared_texts(own, other):
    """How many operations a text that Halite wrote has, and in what it differs from that of JAX."""
    with context():
        return compared(verified(own), verified(other))


def main(reader):
    counts, reasons, wrong, total = collections.Counter(), collections.Counter(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for number, (name, function, args, options) in enumerate([*model_programs(), *single_programs()]):
            own = function if hasattr(function, "lower") else jax.jit(function, **options)
            file = Path(folder) / f"{number}.mlir"
            file.write_text(own.lower(*args).as_text())
            cases[file] = name
        said = subprocess.run([reader, *map(str, cases)], check=True, capture_output=True, text=True).stderr
        refused = dict(line.split("\t", 1) for line in said.splitlines())
        for file, name in cases.items():
            if str(file) in refused or Path(f"{file}.unwritten").exists():
                reasons[f"{name}: {refused.get(str(file)) or Path(f'{file}.unwritten').read_text()}"] += 1
                counts["not read" if str(file) in refused else "not written"] += 1
                continue
            operations, differences = compared_texts(Path(f"{file}.again").read_text(), file.read_text())
            counts["different" if differences else "equal"] += 1
            total += operations
            wrong += [f"{name}: {line}" for line in differences]
    print(f"jaxlib {jaxlib.__version__}, {len(cases)} programs, {total} operations")
    for table in (counts, reasons):
        print("\n".join(f"{count:>6}  {what}" for what, count in table.most_common()), end="\n\n")
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
