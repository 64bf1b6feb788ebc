"""Writes HLO and StableHLO as a JAX user has them, which `halite hlo check` and the reader of StableHLO are held to.

    pip install -r requirements.txt
    python make_hlo.py           # writes fixtures/*.hlo.pb and fixtures/*.mlir
    python make_hlo.py --check   # the files hold what is lowered now

- `llama_step`: a training step with 64-bit types on and s64 tokens, as data loaders give them. Forward, loss, accuracy,
  backward and AdamW over a state that is donated.
- `scan`: a scan over stacked weights with 32-bit types, whose trips are known.
- `while`: a loop that ends when its value is small.
- `extremes`: places of the largest and smallest elements, with ties; sums and extremes of all earlier elements and of windows.
- `rounds`: loops that are counted, one within another.
"""

import argparse
from functools import partial
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
# Sources by name, and no call stacks, so that the bytes say nothing of the machine.
jax.config.update("jax_include_full_tracebacks_in_locations", False)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

import jax.numpy as jnp

from models import MODELS, loss

FIXTURES = Path(__file__).parent / "fixtures"
CONFIG = {
    "vocab": 64, "hidden": 32, "layers": 2, "heads": 4, "kv_heads": 2, "ffn": 48, "seq": 16, "batch": 2,
    "rope_theta": 10000.0, "eps": 1e-5,
}
RATE, BETA1, BETA2, EPS, DECAY = (jnp.float32(number) for number in (1e-3, 0.9, 0.95, 1e-8, 0.1))


def adamw(step, w, g, m, v):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    count = step.astype(jnp.float32)
    update = (m / (1 - BETA1**count)) / (jnp.sqrt(v / (1 - BETA2**count)) + EPS)
    return w - RATE * (update + DECAY * w), m, v


def train_step(state, tokens):
    objective = partial(loss, MODELS["llama"], config=CONFIG)
    (mean, (_, count, logits)), grads = jax.value_and_grad(objective, has_aux=True)(state["weights"], tokens)
    correct = jnp.sum(jnp.argmax(logits, axis=-1) == tokens[:, 1:])
    step = state["step"] + 1
    updated = {
        name: adamw(step, w, grads[name], state["m"][name], state["v"][name]) for name, w in state["weights"].items()
    }
    parts = {part: {name: new[at] for name, new in updated.items()} for at, part in enumerate(("weights", "m", "v"))}
    return parts | {"step": step}, {"loss": mean, "accuracy": correct / count}


def hlo(function, *args, **options):
    """A function, lowered."""
    return jax.jit(function, **options).lower(*args)


def llama_step():
    shapes = MODELS["llama"].shapes(CONFIG)
    weights = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()}
    state = {"weights": weights, "m": weights, "v": weights, "step": jax.ShapeDtypeStruct((), jnp.int32)}
    tokens = jax.ShapeDtypeStruct((CONFIG["batch"], CONFIG["seq"] + 1), jnp.int64)
    return hlo(train_step, state, tokens, donate_argnums=0)


def scan():
    def stack(weights, x):
        return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), jnp.sum(x)), x, weights)

    with jax.enable_x64(False):
        weights, x = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((6, 8, 8), (4, 8)))
        return hlo(stack, weights, x)


def while_():
    def halve(x):
        return jax.lax.while_loop(lambda x: jnp.sum(x) > 1, lambda x: x / 2, x)

    with jax.enable_x64(False):
        return hlo(halve, jax.ShapeDtypeStruct((4, 8), jnp.float32))


def extremes():
    def found(x, n):
        windows = partial(jax.lax.reduce_window, x)
        return (
            jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.argmax(n, 1), jnp.argmin(n, 0),
            jnp.cumsum(x, 0), jax.lax.cumsum(x, 1, reverse=True), jax.lax.cummax(x, 1), jax.lax.cummin(n, 0),
            windows(0.0, jax.lax.add, (1, 3), (1, 2), ((0, 0), (1, 2))),
            windows(-jnp.inf, jax.lax.max, (2, 1), (1, 1), ((0, 0), (0, 0))),
        )

    with jax.enable_x64(False):
        shapes = (((6, 5), jnp.float32), ((4, 7), jnp.int32))
        return hlo(found, *(jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in shapes))


def rounds():
    def within(at, x):
        return jax.lax.fori_loop(0, 3, lambda inner, x: x * 0.5 + at + inner, x)

    with jax.enable_x64(False):
        return hlo(lambda x: jax.lax.fori_loop(2, 7, within, x), jax.ShapeDtypeStruct((4,), jnp.float32))


FILES = {"llama_step": llama_step, "scan": scan, "while": while_, "extremes": extremes, "rounds": rounds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare with the files on disk")
    checking = parser.parse_args().check
    for name, lower in FILES.items():
        lowered = lower()
        proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
        text = lowered.as_text(debug_info=True).encode()
        for ending, data in (("hlo.pb", proto), ("mlir", text)):
            file = FIXTURES / f"{name}.{ending}"
            if checking:
                assert file.read_bytes() == data, f"{file.name} holds something else"
            else:
                file.write_bytes(data)
            print(f"{file.name}: {len(data)} bytes, jax {jax.__version__}")


if __name__ == "__main__":
    main()
