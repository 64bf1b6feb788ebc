"""Checks that Halite's step and JAX's are the same step: each from the same states, on the plugin that JAX_PLATFORMS names.

    PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:PATH/xla_cpu_pjrt.so JAX_PLATFORMS=xcpu \\
        .venv/bin/python agree.py ../../target/release/halite [tiny|mid]

Prints how far loss, gradients and updates of weights are from those of JAX in f32: the median and the largest relative
error over the parameters, in the 2-norm, each the root mean square over the states: what rounding does to a single number
from a single state is a matter of luck. Halite's largest may be 1.5 times that of JAX's own step in the same precision, or
1e-4 in `fp32` and 1e-3 in `mixed` (a quarter of bf16's unit of roundoff) if that is more. Otherwise exits with 1.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np

from configs import CONFIGS
from execute import Step
from jax_step import BETA1, CLIP, COMPUTE, MIN_RATIO, PEAK, TOTAL, WARMUP, lower, state_shapes

# What `jax_step.py` has as constants.
SETS = (
    f"optimizer.adamw.lr={PEAK}", f"schedule.warmup={WARMUP}", f"schedule.steps={TOTAL}", f"schedule.floor={MIN_RATIO}",
    "optimizer.adamw.weight_decay=0.1",
)
SECOND_MOMENT = 1e-4  # of every element at the start: an update then depends smoothly on its gradient
NAMES = {
    "embed": "model.embed_tokens", "norm": "model.norm", "lm_head": "lm_head",
    "attention_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm",
    "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
}
SEEDS = range(4)  # of the states
ALLOWED, RATIO = {"fp32": 1e-4, "mixed": 1e-3}, 1.5


def jax_names(c):
    """Halite's names of what JAX's step takes, in its order; tokens come last."""

    def name(path):
        slot, *keys = [getattr(key, "key", getattr(key, "idx", None)) for key in path]
        if slot == "t":
            return "step"
        layer = f"model.layers.{keys[1]}." if keys[0] == "layers" else ""
        return {"weights": "", "m": "m.", "v": "v."}[slot] + layer + NAMES[keys[-1]] + ".weight"

    return [name(path) for path, _ in jax.tree_util.tree_leaves_with_path(state_shapes(c, "unrolled"))]


def initial(c, shapes, seed):
    """A state and a batch by Halite's names; weights are [out, in] as Halite stores them."""
    rng = np.random.default_rng(seed)
    values = {}
    for name, shape in shapes.items():
        if name == "step":
            values[name] = np.int32(0)
        elif name == "tokens":
            values[name] = rng.integers(0, c.vocab, shape, np.int32)
        elif name.startswith("m."):
            values[name] = np.zeros(shape, np.float32)
        elif name.startswith("v."):
            values[name] = np.full(shape, SECOND_MOMENT, np.float32)
        else:
            center = 1 if len(shape) == 1 else 0
            values[name] = (center + 0.05 * rng.standard_normal(shape)).astype(np.float32)
    return values


def is_transposed(name):
    """JAX's step stores the weights of matmuls as [in, out]."""
    return name.endswith("_proj.weight") or name.endswith("lm_head.weight")


def parts(buffer):
    """The tensors of the model in a buffer: names and shapes."""
    if "packing" not in buffer:
        return [(buffer["name"], buffer["shape"])]
    slot = buffer["name"].removesuffix(buffer.get("of", buffer["name"]))
    return [(slot + part["name"], part["shape"]) for part in buffer["packing"]["parts"]]


def stored(buffer, values):
    """What Halite stores in a buffer: its tensors beside each other, rank by rank."""
    ranks = buffer.get("packing", {}).get("ranks")
    each = [values[name] for name, _ in parts(buffer)]
    return np.concatenate([x.reshape(ranks, -1, *x.shape[1:]) for x in each], axis=1) if ranks else each[0]


def taken_apart(buffer, value):
    """The inverse of `stored`."""
    if "packing" not in buffer:
        return {buffer["name"]: value}
    rows = np.cumsum([shape[0] // buffer["packing"]["ranks"] for _, shape in parts(buffer)])[:-1]
    return {name: x.reshape(shape) for (name, shape), x in zip(parts(buffer), np.split(value, rows, axis=1))}


def run_jax(step, inputs, outputs, values):
    """The results of one step by name."""
    turn = lambda name, value: value.T if is_transposed(name) else value
    step.arguments = [jax.device_put(np.ascontiguousarray(turn(name, values[name]))) for name in inputs]
    return {name: turn(name, np.asarray(value, np.float64)) for name, value in zip(outputs, step.once())}


def run_halite(step, buffers, module, values):
    """The results of one step by the names of the model."""
    step.arguments = [jax.device_put(stored(buffers[port["name"]], values)) for port in module["inputs"]]
    results = zip(module["outputs"], step.once())
    found = [taken_apart(buffers.get(port["name"], port), np.asarray(value, np.float64)) for port, value in results]
    return {name: value for results in found for name, value in results.items()}


def halite_bundle(binary, config, sets):
    """HLO bytes of Halite's step and the manifest of its bundle."""
    settings = [word for pair in (*config.sets, *SETS, *sets) for word in ("--set", pair)]
    with tempfile.TemporaryDirectory() as bundle:
        command = [binary, "compile", config.preset, "--role", "train_step", "-q", "-o", bundle, *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        manifest = json.loads((Path(bundle) / "manifest.json").read_text())
        (module,) = manifest["modules"]
        buffers = {buffer["name"]: buffer for buffer in manifest["buffers"]}
        for end in ("inputs", "outputs"):
            # A port that is its buffer is written as its name.
            module[end] = [buffers[port] if isinstance(port, str) else port for port in module[end]]
        return (Path(bundle) / module["file"]).read_bytes(), manifest


def answers(found, values):
    """Loss, gradients and updates of the weights."""
    scale = min(1.0, CLIP / (found["grad_norm"] + 1e-6))
    moments = sorted(name for name in found if name.startswith("m."))
    return {
        "loss": [found["loss"]],
        "gradient norm": [found["grad_norm"]],
        "gradients": [found[name] / ((1 - BETA1) * scale) for name in moments],
        "updates": [found[name[2:]] - values[name[2:]] for name in moments],
    }


def errors(found, reference):
    """The median and the largest relative error for each of the answers, from the answers for each state."""
    relative = lambda x, y: np.linalg.norm(np.ravel(x - y)) / np.linalg.norm(np.ravel(y))
    pairs = lambda key: [[relative(x, y) for x, y in zip(a[key], b[key])] for a, b in zip(found, reference)]
    each = {key: np.sqrt(np.mean(np.square(pairs(key)), axis=0)) for key in reference[0]}
    return {key: (np.median(error), np.max(error)) for key, error in each.items()}


def main():
    binary, name = sys.argv[1], (sys.argv[2:] or ["tiny"])[0]
    c, state = CONFIGS[name], jax_names(CONFIGS[name])
    metrics = ["grad_norm", "learning_rate", "loss"]
    found = {}
    for precision in COMPUTE:
        data, manifest = halite_bundle(binary, c, (f"precision={precision}",))
        (module,) = manifest["modules"]
        buffers = {buffer["name"]: buffer for buffer in manifest["buffers"]}
        shapes = dict(part for buffer in buffers.values() for part in parts(buffer))
        states = [initial(c, shapes, seed) for seed in SEEDS]
        step = Step(data)
        found["Halite", precision] = [answers(run_halite(step, buffers, module, values), values) for values in states]
        step = Step(lower(c, precision, "unrolled"))
        results = lambda values: run_jax(step, [*state, "tokens"], [*state, *metrics], values)
        found["JAX", precision] = [answers(results(values), values) for values in states]
    reference = found["JAX", "fp32"]
    off = {key: errors(answer, reference) for key, answer in found.items()}
    agree = True
    for (compiler, precision), error in off.items():
        shown = "  ".join(f"{key} {median:.1e} {worst:.1e}" for key, (median, worst) in error.items())
        print(f"{name} {compiler:7}{precision:6} loss {found[compiler, precision][0]['loss'][0]:.6f}, off by: {shown}")
        if compiler == "Halite":
            peer = off["JAX", precision]
            agree &= all(error[key][1] <= max(ALLOWED[precision], RATIO * peer[key][1]) for key in error)
    sys.exit(0 if agree else "these are not the same step")


if __name__ == "__main__":
    main()
