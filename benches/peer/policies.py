"""Halite against JAX where both compute again: temporary memory and step times of one step under each policy.

    .venv/bin/python policies.py --halite ../../target/release/halite --plugin PATH/xla_cpu_pjrt.so --json policies.json

Halite is given `recompute`, JAX's layers, or their core of attention and their activation, are wrapped in `jax.checkpoint`. Each
policy is compared with JAX's step under the like one, unrolled, and with JAX's naive step; Halite's steps also with its own default.
Figures are taken as in `peer.py`.
"""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import jax

import jax_step
from configs import COMPILED, CONFIGS, EXECUTED
from peer import arguments, execute_all, halite_command, measured, ratio, show_number, show_ratio, train_step_file, typical
from substitute import substituted

SAVEABLE = jax.checkpoint_policies


def computed_again(policy):
    """Wraps what JAX's step computes again under a policy, for a while."""
    wraps = {
        "attention, activation": {"core": jax.checkpoint, "activation": jax.checkpoint},
        "dots": {"layer": lambda f: checkpointed_layer(f, SAVEABLE.dots_saveable)},
        "block": {"layer": lambda f: checkpointed_layer(f, SAVEABLE.nothing_saveable)},
    }.get(policy, {})
    return substituted(jax_step, **{name: wrap(getattr(jax_step, name)) for name, wrap in wraps.items()})


def checkpointed_layer(layer, policy):
    """The layer, whose first argument is a configuration and no array."""
    return jax.checkpoint(layer, policy=policy, static_argnums=0)


# What the tables call it, and Halite's `recompute`; the default of both compilers comes first.
POLICIES = {
    "default": None,
    "attention, activation": '["attention", "activation"]',
    "dots": '["dots"]',
    "block": '["block"]',
}


def compile_all(options, name, precision, folder):
    """The HLO files of both compilers under each policy."""
    files = {}
    for policy, recompute in POLICIES.items():
        bundle, file = folder / f"halite {policy}", folder / f"jax {policy}.hlo.pb"
        asked = replace(CONFIGS[name], sets=CONFIGS[name].sets + ((f"recompute={recompute}",) if recompute else ()))
        measured(*halite_command(options, asked, precision, bundle))
        with computed_again(policy):
            file.write_bytes(jax_step.lower(CONFIGS[name], precision, "unrolled"))
        files |= {f"Halite, {policy}": train_step_file(bundle), f"JAX, {policy}": file}
    return files


def compared(figures, key):
    """A figure of Halite under each policy over that of JAX under the like one, over JAX's naive step, and over its own default."""
    found = {}
    for policy in POLICIES:
        ours = figures[f"Halite, {policy}"][key]
        others = {"like": f"JAX, {policy}", "naive": "JAX, default", "own default": "Halite, default"}
        found[policy] = {to: ratio(ours, figures[other][key]) for to, other in others.items()}
    return found


def print_table(title, unit, figures, key, ratios):
    rows = [[title, "Halite", "JAX", "Halite / JAX alike", "Halite / JAX's naive", "of Halite's default"]]
    for policy in POLICIES:
        numbers = [show_number(typical(figures[f"{who}, {policy}"][key]) / unit) for who in ("Halite", "JAX")]
        rows.append([policy, *numbers, *(show_ratio(found) for found in ratios[policy].values())])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
    print(flush=True)


def measure(options, name, precision, folder):
    files = compile_all(options, name, precision, folder)
    report = {}
    for xla in options.xla:
        figures = execute_all(options, name, files, xla)
        prefix = "" if xla == "plugin" else f"{xla}_"
        for key, word, unit in (("temp_bytes", "temp, MB", 1e6), ("step_seconds", "step, ms", 1e-3)):
            if prefix + key in figures["JAX, default"]:
                ratios = compared(figures, prefix + key)
                print_table(f"{name}, {precision}, XLA of {xla}: {word}", unit, figures, prefix + key, ratios)
                report[prefix + key] = ratios
        report[f"{xla} figures"] = figures
    return report


def main():
    options = arguments(__doc__)
    if not options.halite:
        sys.exit("policies are compared with Halite's: give --halite")
    report = {}
    with tempfile.TemporaryDirectory() as temporary:
        for precision in options.precision:
            for name in (name for name in options.configs if name in (*EXECUTED, *COMPILED)):
                folder = Path(temporary) / precision / name
                folder.mkdir(parents=True)
                report[f"{name}, {precision}"] = measure(options, name, precision, folder)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
