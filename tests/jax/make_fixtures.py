"""Writes the JAX oracle fixtures: forward, gradients and 20 AdamW steps of tiny models, all computed in f64.

    pip install -r requirements.txt
    python make_fixtures.py           # writes fixtures/*.safetensors and fixtures/fixtures.json
    python make_fixtures.py --check   # finite differences, and the files on disk equal what is computed now

README.md beside this file describes the tensors in each file.
"""

import argparse
import json
import math
import platform
from functools import partial
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import jaxlib
import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

from models import IGNORE, MODELS, init, loss

FIXTURES = Path(__file__).parent / "fixtures"
STEPS = 20
BATCH = 2
OPTIMIZER = {
    "name": "adamw",
    "peak": 1e-3,
    "warmup_steps": 5,
    "total_steps": STEPS,
    "min_ratio": 0.1,
    "beta1": 0.9,
    "beta2": 0.95,
    "eps": 1e-8,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
}
LLAMA = {
    "vocab": 64, "hidden": 32, "layers": 2, "heads": 4, "kv_heads": 4, "ffn": 48, "seq": 16, "batch": BATCH,
    "rope_theta": 10000.0, "eps": 1e-5,
}
GPT2 = {
    "vocab": 64, "hidden": 32, "layers": 2, "heads": 4, "positions": 16, "seq": 16, "batch": BATCH, "eps": 1e-5,
}
# Family, config, optimizer, seed. Clipping acts in every step, except with the norm of 5, which only some steps exceed.
CASES = {
    "llama": ("llama", LLAMA, OPTIMIZER, 1),
    "llama_grouped": ("llama", LLAMA | {"kv_heads": 2}, OPTIMIZER | {"clip_norm": 5.0}, 2),
    "gpt2": ("gpt2", GPT2, OPTIMIZER, 3),
}
SMALL = 512  # weights after one step are kept for tensors of at most this many elements


def learning_rate(o, step):
    """The rate of update `step`, counted from 1: linear warm-up, then a cosine from the peak to its floor."""
    if step <= o["warmup_steps"]:
        return o["peak"] * step / o["warmup_steps"]
    progress = min(1.0, (step - o["warmup_steps"]) / (o["total_steps"] - o["warmup_steps"]))
    floor = o["min_ratio"] * o["peak"]
    return floor + (o["peak"] - floor) * 0.5 * (1 + math.cos(math.pi * progress))


def adamw(o, params, moments, grads, step):
    """One update, counted from 1: global-norm clip, bias-corrected moments, decay of the old weight."""
    rate = learning_rate(o, step)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads.values()))
    scale = jnp.minimum(1.0, o["clip_norm"] / (norm + 1e-6))
    correction1 = 1 - math.exp(step * math.log(o["beta1"]))
    correction2 = 1 - math.exp(step * math.log(o["beta2"]))
    new_params, new_moments = {}, {}
    for name, w in params.items():
        g = grads[name] * scale
        m, v = moments[name]
        m = o["beta1"] * m + (1 - o["beta1"]) * g
        v = o["beta2"] * v + (1 - o["beta2"]) * g * g
        update = (m / correction1) / (jnp.sqrt(v / correction2) + o["eps"])
        new_params[name] = w - (rate * update + rate * o["weight_decay"] * w)
        new_moments[name] = (m, v)
    return new_params, new_moments, norm, rate


def draw_tokens(config, rng):
    """s32[STEPS, B, S+1]; in batches of even index the last label of the first row is ignored."""
    tokens = rng.integers(0, config["vocab"], (STEPS, config["batch"], config["seq"] + 1), dtype=np.int32)
    tokens[::2, 0, -1] = IGNORE
    return tokens


def compute(family, config, optimizer, seed):
    """All tensors of one fixture by name."""
    model = MODELS[family]
    rng = np.random.default_rng(seed)
    initial = init(model, config, rng)
    tokens = draw_tokens(config, rng)
    step_gradient = jax.jit(jax.value_and_grad(partial(loss, model, config=config), has_aux=True))

    tensors = {"tokens": tokens} | {f"initial/{name}": w for name, w in initial.items()}
    params = {name: jnp.asarray(w, jnp.float64) for name, w in initial.items()}
    moments = {name: (jnp.zeros_like(w), jnp.zeros_like(w)) for name, w in params.items()}
    rows = []
    for index in range(STEPS):
        (mean, (loss_sum, count, logits)), grads = step_gradient(params, tokens[index])
        params, moments, norm, rate = adamw(optimizer, params, moments, grads, index + 1)
        rows.append((mean, loss_sum, count, norm, rate))
        if index == 0:
            tensors["logits"] = logits
            tensors |= {f"grad/{name}": g for name, g in grads.items()}
            tensors |= {f"step1/{name}": w for name, w in params.items() if w.size <= SMALL}
    tensors |= {f"step{STEPS}/{name}": w for name, w in params.items()}
    columns = ("loss", "loss_sum", "count", "grad_norm", "learning_rate")
    for column, values in zip(columns, zip(*rows)):
        tensors[column] = np.array(values, np.int32 if column == "count" else np.float64)
    return {name: np.asarray(t) for name, t in tensors.items()}


def finite_difference_error(family, config, tensors):
    """The largest relative error of any gradient tensor along a random direction, by a fourth-order stencil."""
    model = MODELS[family]
    value = jax.jit(lambda params: loss(model, params, tensors["tokens"][0], config)[0])
    params = {name[8:]: t.astype(np.float64) for name, t in tensors.items() if name.startswith("initial/")}
    rng = np.random.default_rng(0)
    step, worst = 1e-3, 0.0
    for name, w in params.items():
        direction = rng.standard_normal(w.shape)
        direction /= np.linalg.norm(direction)
        at = lambda k: float(value(params | {name: w + k * step * direction}))
        numeric = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)
        gradient = tensors[f"grad/{name}"]
        worst = max(worst, abs(numeric - np.vdot(gradient, direction)) / np.linalg.norm(gradient))
    return worst


def check(name, family, config, tensors):
    """Fails if the gradients disagree with finite differences or the file on disk with what was just computed."""
    error = finite_difference_error(family, config, tensors)
    stored = load_file(FIXTURES / f"{name}.safetensors")
    assert stored.keys() == tensors.keys(), "the file holds other tensors"
    drift = max(float(np.max(np.abs(stored[key] - t), initial=0)) for key, t in tensors.items())
    print(f"{name}: finite differences within {error:.1e}, file within {drift:.1e}")
    assert error < 1e-7 and drift < 1e-11


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; verify gradients and the files on disk")
    checking = parser.parse_args().check
    versions = {
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
    }
    print(", ".join(f"{package} {version}" for package, version in versions.items()))

    summary = {"versions": versions, "steps": STEPS, "fixtures": {}}
    for name, (family, config, optimizer, seed) in CASES.items():
        tensors = compute(family, config, optimizer, seed)
        if checking:
            check(name, family, config, tensors)
            continue
        FIXTURES.mkdir(exist_ok=True)
        path = FIXTURES / f"{name}.safetensors"
        save_file(tensors, path)
        path.chmod(0o644)
        losses, norms = tensors["loss"], tensors["grad_norm"]
        print(f"{name}: loss {losses[0]:.6f} to {losses[-1]:.6f}, gradient norm {norms.min():.3f} to {norms.max():.3f}")
        summary["fixtures"][name] = {
            "file": f"{name}.safetensors",
            "model": family,
            "config": config,
            "optimizer": optimizer,
            "seed": seed,
            "zero_gradients": MODELS[family].zero_gradients(config),
        }
    if not checking:
        (FIXTURES / "fixtures.json").write_text(json.dumps(summary, indent=2) + "\n")


if __name__ == "__main__":
    main()
