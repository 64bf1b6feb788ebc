"""What a step costs in JAX through `halite.jax`, beside the same program through Halite's own runtime.

    python python_overhead.py --plugin PATH/xla_cpu_pjrt.so

Both run in one process on the plugin, interleaved, from one state; each update takes a batch from the host and gives its metrics
to it. First calls are those of fresh processes, that of a jitted step from the call to its metrics, beside `lowered.compile()` of
JAX's own step. Needs the Python package, a release (`maturin develop --release -m ../../bindings/python/Cargo.toml`).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from configs import CONFIGS
from execute import NO_XNNPACK
from peer import ratio

# JAX hands its own defaults to a plugin. Two of them mean something else than what the plugin does itself: the number of a kind of fusion,
# which is that of another kind to the XLA of the plugin, and the scheduler. `HALITE` is what the plugin has from Halite.
HALITE = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "xla_cpu_enable_concurrency_optimized_scheduler": True,
    **NO_XNNPACK,
}
OPTIONS = {"JAX's options": {}, "Halite's options": HALITE}
VARIANTS = ("unrolled", "scan")


def bundle_of(config, precision):
    import halite

    sizes = {key: int(value) for key, value in (setting.split("=") for setting in config.sets)}
    return halite.compile(config.preset, roles=["train_step"], precision=precision, progress=False, **sizes)


def tokens_of(config):
    return np.random.default_rng(0).integers(0, config.vocab, (config.batch, config.seq + 1)).astype(np.int32)


def steps(config, precision, plugin, runs, options):
    """Seconds of an update by each, in turns, and how many tensors of the state are not equal bit for bit in the end."""
    import halite
    import halite.jax
    import jax

    bundle, tokens = bundle_of(config, precision), tokens_of(config)
    step = halite.jax.train_step(bundle)
    update, state = step.jit(compiler_options=options), step.init(0)
    own = halite.runtime.TrainStep(bundle, plugin=plugin, stablehlo=True)
    own.set_state({name: np.asarray(tensor) for name, tensor in step.tensors(state).items()})

    def in_jax():
        nonlocal state
        state, metrics = update(state, tokens)
        jax.device_get(metrics)

    both = {"jax": in_jax, "runtime": lambda: own.step({"tokens": tokens})}
    seconds = {name: [] for name in both}
    for run in range(runs + 2):
        for name in sorted(both, reverse=run % 2 == 1):
            start = time.perf_counter()
            both[name]()
            seconds[name].append(time.perf_counter() - start)
    ours, theirs = step.tensors(state), own.state()
    unlike = sum(np.asarray(ours[name]).tobytes() != tensor.tobytes() for name, tensor in theirs.items())
    checks = time.perf_counter()
    step.check(state, tokens)
    checks = time.perf_counter() - checks
    return {"seconds": {name: each[2:] for name, each in seconds.items()}, "unlike": unlike, "of": len(theirs), "checks": checks}


def first_call(config, precision, options):
    """Seconds from the first call of a jitted step to its metrics."""
    import halite.jax
    import jax

    step = halite.jax.train_step(bundle_of(config, precision))
    state, update, tokens = step.init(0), step.jit(compiler_options=options), tokens_of(config)
    start = time.perf_counter()
    _, metrics = update(state, tokens)
    jax.device_get(metrics)
    return time.perf_counter() - start


def compile_of_jax(config, precision, variant):
    """Seconds that `lowered.compile()` of JAX's own step takes."""
    import jax
    import jax_step

    step = jax.jit(partial(jax_step.train_step, config, precision, variant), donate_argnums=0)
    lowered = step.lower(jax_step.state_shapes(config, variant), jax_step.tokens_shape(config))
    start = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - start


TASKS = {"steps": steps, "first_call": first_call, "compile_of_jax": compile_of_jax}


def measured(plugin, task, name, precision, *rest):
    """What a task finds in a fresh process whose JAX runs on the plugin."""
    environment = {**os.environ, "PJRT_NAMES_AND_LIBRARY_PATHS": f"xcpu:{plugin}", "JAX_PLATFORMS": "xcpu"}
    command = [sys.executable, __file__, "--task", json.dumps([task, name, precision, *rest])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{task} of {name} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def show(title, found):
    print(f"{title}: {found['ratio']:.3f} [{found['low']:.3f}, {found['high']:.3f}]", flush=True)


def compare_steps(args, name, precision):
    for title, options in OPTIONS.items():
        found = measured(args.plugin, "steps", name, precision, args.plugin, args.runs, options)
        seconds = found["seconds"]
        medians = " and ".join(f"{np.median(seconds[which]) * 1e3:.1f}" for which in ("jax", "runtime"))
        show(f"{name} {precision}, {title}: step in JAX over that of the runtime", ratio(seconds["jax"], seconds["runtime"]))
        print(f"  {medians} ms; {found['unlike']} of {found['of']} tensors differ; checks {found['checks'] * 1e3:.2f} ms")


def compare_first(args, name, precision):
    found = {key: [] for key in ("ours", *VARIANTS)}
    for _ in range(args.first):
        found["ours"].append(measured(args.plugin, "first_call", name, precision, {}))
        for variant in VARIANTS:
            found[variant].append(measured(args.plugin, "compile_of_jax", name, precision, variant))
    for variant in VARIANTS:
        show(f"{name} {precision}: first call over JAX's compile, {variant}", ratio(found["ours"], found[variant]))
    print("  " + ", ".join(f"{key} {np.median(each):.2f} s" for key, each in found.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", type=lambda path: str(Path(path).resolve()), help="xla_cpu_pjrt.so")
    parser.add_argument("--configs", nargs="+", choices=CONFIGS, default=["mid"])
    parser.add_argument("--precision", nargs="+", default=["fp32", "mixed"])
    parser.add_argument("--runs", type=int, default=30, help="updates of each that are timed (default: 30)")
    parser.add_argument("--first", type=int, default=5, help="processes of each first call and compile (default: 5)")
    parser.add_argument("--task", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        task, name, *rest = args.task
        print(json.dumps(TASKS[task](CONFIGS[name], *rest)))
        return
    for name in args.configs:
        for precision in args.precision:
            compare_steps(args, name, precision)
            compare_first(args, name, precision)


if __name__ == "__main__":
    main()
