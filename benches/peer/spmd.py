"""Halite against XLA's SPMD partitioner: one Llama step on 8 virtual CPU devices, layout by layout.

    ../setup.sh peer
    .venv/bin/python spmd.py --halite ../../target/release/halite --json spmd.json

For each device: bytes on the wire, temporary memory, and the time of a step; and whether all steps are one and the same. README.md
beside this file says what each figure is.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import jax

import jax_step
from agree import ALLOWED, answers, errors, halite_bundle, initial, is_transposed, jax_names, run_jax
from execute import NO_XNNPACK, Step
from jax_spmd import METRICS, VARIANTS, SpmdStep
from layouts import DEVICES, LAYOUTS, MODEL
from peer import ratio, show_number, show_ratio, typical
from ranks import RankStep
from wire import Wire

RECOMPUTE = {"none": '["none"]', "default": "[]", "selective": '["attention", "activation"]'}
HALITE = {f"Halite {policy}": policy for policy in RECOMPUTE}
PEERS = {f"JAX {variant}": variant for variant in VARIANTS}
# Both compilers get the same. With the other schedule CPU XLA may start collectives in another order on each device, and hang.
COMPILER_OPTIONS = {"xla_cpu_enable_concurrency_optimized_scheduler": False, **NO_XNNPACK}
COMPARED = (
    ("Halite none", "JAX naive"), ("Halite none", "JAX strong"),
    ("Halite default", "JAX naive"), ("Halite default", "JAX strong"),
    ("Halite selective", "JAX remat"),
)
# Figure, how the table names it, and what one unit of the table is.
FIGURES = (
    ("wire_bytes", "wire, MB", 1e6),
    ("scattered_bytes", "wire with reduce-scatter, MB", 1e6),
    ("temp_bytes", "temp, MB", 1e6),
    ("step_seconds", "step, ms", 1e-3),
)
LOSS_ALLOWED = 1e-6  # relative: a few roundings of f32
WIRE_ALLOWED = 0.01  # by which what Halite says it sends may differ from what is counted in its HLO


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", type=Path, required=True, help="the release binary of halite")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS), help="what to measure")
    parser.add_argument("--runs", type=int, default=15, help="interleaved runs per step; 0 measures no times")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    if not options.halite.is_file():
        parser.error(f"{options.halite} is not a file: build it with `cargo build --release`")
    return options


def state():
    """Whole values of state and batch by Halite's names, and what one device answers to them in JAX."""
    names, leaves = jax_names(MODEL), jax.tree.leaves(jax_step.state_shapes(MODEL, "unrolled"))
    shapes = {name: leaf.shape[::-1] if is_transposed(name) else leaf.shape for name, leaf in zip(names, leaves)}
    values = initial(MODEL, shapes | {"tokens": jax_step.tokens_shape(MODEL).shape}, 0)
    step = Step(jax_step.lower(MODEL, "fp32", "unrolled"))
    return values, answers(run_jax(step, [*names, "tokens"], [*names, *METRICS], values), values)


def check_halite(name, step, values, reference):
    """One step from a state: loss, gradients and updates as on one device."""
    step.put(values)
    off = {key: worst for key, (_, worst) in errors([answers(step.results(step.once()), values)], [reference]).items()}
    allowed = {key: LOSS_ALLOWED if key in ("loss", "gradient norm") else ALLOWED["fp32"] for key in off}
    if any(off[key] > allowed[key] for key in off):
        sys.exit(f"{name} computes another step than JAX on one device: off by {off}, allowed are {allowed}")
    return off


def check_jax(name, step, values, reference):
    """One step from a state: loss and norm of the gradients as on one device."""
    step.put(values)
    found = step.metrics(step.once())
    pairs = {"loss": (found["loss"], reference["loss"][0]), "gradient norm": (found["grad_norm"], reference["gradient norm"][0])}
    off = {key: float(abs(x / y - 1)) for key, (x, y) in pairs.items()}
    if max(off.values()) > LOSS_ALLOWED:
        sys.exit(f"{name} computes another step than JAX on one device: off by {off}, allowed is {LOSS_ALLOWED}")
    return off


def inspected_bytes(binary, sets):
    """What a rank sends in an update, as `halite inspect --placement` says."""
    settings = [word for pair in (*MODEL.sets, *sets) for word in ("--set", pair)]
    command = [binary, "inspect", MODEL.preset, "--placement", "--json", *settings]
    placement = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return sum(row["bytes"] for row in placement["traffic"])


def halite_step(options, layout, policy):
    """Halite's step under a policy, and what it sends."""
    sets = (*layout.sets(), "precision=fp32", f"recompute={RECOMPUTE[policy]}")
    step = RankStep(*halite_bundle(options.halite, MODEL, sets), COMPILER_OPTIONS)
    said, counted = inspected_bytes(options.halite, sets), sum(Wire(step.text()).made().values())
    if abs(said / counted - 1) > WIRE_ALLOWED:
        sys.exit(f"halite inspect says {said} bytes go over the wire, the HLO of the step has {counted:.0f}")
    return step, {"wire_bytes": said}


def jax_spmd_step(layout, variant):
    """JAX's step, and what it sends."""
    step = SpmdStep(MODEL, variant, layout, COMPILER_OPTIONS)
    return step, {"wire_bytes": sum(Wire(step.text()).made().values())}


def timed(steps, runs):
    """Seconds of each run of each step: interleaved, the start of the turn rotating."""
    seconds = {name: [] for name in steps}
    names = list(steps)
    for step in steps.values():
        step.once()
    for run in range(runs):
        turn = run % len(names)
        for name in names[turn:] + names[:turn]:
            start = time.perf_counter()
            steps[name].once()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def measure(options, layout, values, reference):
    """Every figure of every step on one layout."""
    made = {name: halite_step(options, layout, policy) for name, policy in HALITE.items()}
    made |= {name: jax_spmd_step(layout, variant) for name, variant in PEERS.items()}
    figures = {}
    for name, (step, found) in made.items():
        wire, check = Wire(step.text()), check_halite if name in HALITE else check_jax
        figures[name] = found | {
            "scattered_bytes": sum(wire.scattered().values()),
            "wire_by_opcode": {"made": wire.made(), "scattered": wire.scattered()},
            "temp_bytes": step.temp_bytes(),
            "off_by": check(name, step, values, reference),
        }
    if options.runs:
        for name, seconds in timed({name: step for name, (step, _) in made.items()}, options.runs).items():
            figures[name]["step_seconds"] = seconds
    return figures


def ratios(figures):
    """Halite over JAX for each figure."""
    keys = [key for key, _, _ in FIGURES if key in figures["Halite none"]]
    return {f"{x} / {y}": {key: ratio(figures[x][key], figures[y][key]) for key in keys} for x, y in COMPARED}


def print_table(key, title, unit, layouts):
    steps = [*HALITE, *PEERS]
    rows = [[title, *steps, *(f"{HALITE[x]} / {PEERS[y]}" for x, y in COMPARED)]]
    for name, found in layouts.items():
        numbers = [show_number(typical(found["figures"][step][key]) / unit) for step in steps]
        rows.append([name, *numbers, *(show_ratio(compared[key]) for compared in found["ratios"].values())])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
    print(flush=True)


def worst(layouts, key):
    """The largest error of any step on any layout."""
    return max(figures["off_by"].get(key, 0) for found in layouts.values() for figures in found["figures"].values())


def main():
    options = arguments()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    values, reference = state()
    layouts = {}
    for name in options.layouts:
        figures = measure(options, LAYOUTS[name], values, reference)
        layouts[name] = {"figures": figures, "ratios": ratios(figures)}
    for key, title, unit in FIGURES:
        if key != "step_seconds" or options.runs:
            print_table(key, title, unit, layouts)
    off = ", ".join(f"{key} {worst(layouts, key):.1e}" for key in ("loss", "gradient norm", "gradients", "updates"))
    print(f"All steps are that of JAX on one device; off by at most: {off}")
    if options.json:
        report = {
            "machine": {"system": platform.platform(), "cores": os.cpu_count()},
            "versions": {"python": platform.python_version()} | {p: version(p) for p in ("jax", "jaxlib", "numpy")},
            "runs": options.runs, "layouts": layouts,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
