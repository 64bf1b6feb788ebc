"""Halite against JAX: the same Llama training step, measured side by side in one run and reported as ratios.

    ../setup.sh peer
    .venv/bin/python peer.py --halite ../../target/release/halite --plugin PATH/xla_cpu_pjrt.so --json peer.json

README.md beside this file says what each figure is. Without `--halite` only JAX's figures are measured.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from configs import COMPILED, CONFIGS, EXECUTED, GPU
from hlo import Module

HERE = Path(__file__).parent
PRECISIONS = ("fp32", "mixed")
DEFAULT = [name for name in CONFIGS if name not in GPU]
VARIANTS = ("unrolled", "scan")
PEERS = tuple(f"JAX {variant}" for variant in VARIANTS)
XLAS = ("plugin", "jax")  # the CPU plugin, and the XLA inside the installed jaxlib
RESAMPLES = 10_000


def arguments(description=__doc__):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", type=Path, help="the release binary of halite")
    parser.add_argument("--plugin", type=Path, default=os.environ.get("HALITE_PJRT_PLUGIN"), help="the CPU XLA plugin")
    parser.add_argument("--configs", nargs="+", choices=CONFIGS, default=DEFAULT, help="what to measure")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=list(PRECISIONS), help="in what precision")
    parser.add_argument("--xla", nargs="+", choices=XLAS, default=["plugin"], help="which XLA compiles and runs the steps")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed to every halite compile")
    parser.add_argument("--compile-runs", type=int, default=5, help="processes started per compiler and config")
    parser.add_argument("--runs", type=int, default=30, help="interleaved runs per step")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    if not options.plugin and "plugin" in options.xla and set(options.configs) & {*EXECUTED, *COMPILED}:
        parser.error("steps run on the CPU XLA plugin: give --plugin (`halite plugin install` fetches it) or `--xla jax`")
    for path in (options.halite, options.plugin):
        if path and not Path(path).is_file():
            parser.error(f"{path} is not a file")
    return options


def measured(command, environment=None):
    """Runs a process to its end: wall seconds and peak resident MB."""
    launcher = [sys.executable, "-I", "-S", HERE / "measure.py"]
    done = subprocess.run([*launcher, *command], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    found = json.loads(done.stdout)
    return found["seconds"], found["peak_bytes"] / 1e6


def interleaved(commands, runs):
    """Measures each named command `runs` times, in turns that start with another one each time."""
    seconds, peaks = ({name: [] for name in commands} for _ in range(2))
    names = list(commands)
    for run in range(runs):
        turn = run % len(names)
        for name in names[turn:] + names[:turn]:
            wall, peak = measured(*commands[name])
            seconds[name].append(wall)
            peaks[name].append(peak)
    return seconds, peaks


def halite_command(options, config, precision, out):
    settings = [word for pair in (*config.sets, f"precision={precision}", *options.set) for word in ("--set", pair)]
    return ([options.halite, "compile", config.preset, "-o", out, *settings],)


def jax_command(name, precision, variant, out):
    return [sys.executable, HERE / "jax_step.py", name, precision, variant, out], os.environ | {"JAX_PLATFORMS": "cpu"}


def train_step_file(bundle):
    """The HLO file of the bundle's training step."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    (file,) = [module["file"] for module in manifest["modules"] if module["role"] == "train_step"]
    return bundle / file


def compile_all(options, name, precision, folder):
    """Compiles one config in one precision with every compiler: its figures by compiler, and the HLO files."""
    files = {peer: folder / f"{variant}.hlo.pb" for peer, variant in zip(PEERS, VARIANTS)}
    commands = {peer: jax_command(name, precision, variant, files[peer]) for peer, variant in zip(PEERS, VARIANTS)}
    if options.halite:
        bundle = folder / "bundle"
        commands["Halite"] = halite_command(options, CONFIGS[name], precision, bundle)
    seconds, peaks = interleaved(commands, options.compile_runs)
    if options.halite:
        files["Halite"] = train_step_file(bundle)
    figures = {}
    for compiler, file in files.items():
        data = file.read_bytes()
        module = Module(data)
        opcodes = module.opcodes()
        figures[compiler] = {
            "compile_seconds": seconds[compiler],
            "compile_peak_mb": peaks[compiler],
            "hlo_bytes": len(data),
            "instructions": opcodes.total(),
            "dots": opcodes["dot"],
            "argument_bytes": module.argument_bytes(),
            "opcodes": dict(sorted(opcodes.items())),
        }
    return figures, files


def execute_all(options, name, files, xla):
    """Memory statistics and step times of all training steps of one config on one XLA; no times where it is not run."""
    runs = options.runs if name in EXECUTED else 0
    request = {"runs": runs, "vocab": CONFIGS[name].vocab, "steps": {k: str(v) for k, v in files.items()}}
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    if xla == "plugin":
        environment |= {
            "PJRT_NAMES_AND_LIBRARY_PATHS": f"xcpu:{Path(options.plugin).resolve()}",
            "JAX_PLATFORMS": "xcpu",
        }
    command = [sys.executable, HERE / "execute.py", json.dumps(request)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"running {name} on XLA ({xla}) failed:\n{done.stderr}")
    prefix = "" if xla == "plugin" else f"{xla}_"
    named = lambda found: {prefix + key: value for key, value in found.items()}
    return {compiler: named(found) for compiler, found in json.loads(done.stdout).items()}


def ratio(ours, theirs):
    """The ratio of two figures; of two lists of paired runs, the median ratio and its 95% bootstrap interval."""
    if not isinstance(ours, list):
        return {"ratio": ours / theirs}
    pairs = np.array(ours) / np.array(theirs)
    samples = np.random.default_rng(0).choice(pairs, (RESAMPLES, len(pairs)))
    low, high = np.percentile(np.median(samples, axis=1), [2.5, 97.5])
    return {"ratio": float(np.median(pairs)), "low": float(low), "high": float(high)}


# Figure, how the table names it, and what one unit of the table is.
ROWS = (
    ("compile_seconds", "compile, whole process, ms", 1e-3),
    ("compile_peak_mb", "compile, peak memory, MB", 1),
    ("hlo_bytes", "HLO, kB", 1e3),
    ("instructions", "instructions", 1),
    ("dots", "of these dots", 1),
    ("argument_bytes", "state and batch, MB", 1e6),
    ("xla_compile_seconds", "XLA compile, ms", 1e-3),
    ("temp_bytes", "temp, MB", 1e6),
    ("step_seconds", "step, ms", 1e-3),
    ("jax_xla_compile_seconds", "JAX's XLA: compile, ms", 1e-3),
    ("jax_temp_bytes", "JAX's XLA: temp, MB", 1e6),
    ("jax_step_seconds", "JAX's XLA: step, ms", 1e-3),
)


def typical(figure):
    return statistics.median(figure) if isinstance(figure, list) else figure


def ratios(figures):
    """Every figure of Halite over that of each JAX variant."""
    if "Halite" not in figures:
        return {}
    ours = figures["Halite"]
    return {
        peer: {key: ratio(ours[key], figures[peer][key]) for key, _, _ in ROWS if key in ours} for peer in PEERS
    }


def show_number(value):
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.4g}"


def show_ratio(found):
    interval = f" [{found['low']:.3f}, {found['high']:.3f}]" if "low" in found else ""
    return f"{found['ratio']:.3f}{interval}"


def print_table(title, figures, compared):
    compilers = [c for c in ("Halite", *PEERS) if c in figures]
    header = [title, *compilers, *(f"Halite / {peer}" for peer in compared)]
    rows = [header]
    for key, row, unit in ROWS:
        if key in figures[PEERS[0]]:
            numbers = [show_number(typical(figures[c][key]) / unit) for c in compilers]
            rows.append([row, *numbers, *(show_ratio(compared[peer][key]) for peer in compared)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for index, row in enumerate(rows):
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]))
        if index == 0:
            print("-" * (sum(widths) + 2 * len(widths) - 2))
    if compared and abs(compared[PEERS[0]]["argument_bytes"]["ratio"] - 1) > 1e-3:
        print("WARNING: Halite's state differs in size from JAX's, so these are not the same step.")
    print(flush=True)


def doubled_layers(options, precision, folder):
    """Halite's compile time of the 7B model with 64 layers over that with its 32."""
    base = CONFIGS["llama-7b"]
    configs = {"32 layers": base, "64 layers": replace(base, layers=64, sets=("layers=64",))}
    commands = {name: halite_command(options, config, precision, folder / name) for name, config in configs.items()}
    seconds, _ = interleaved(commands, options.compile_runs)
    found = ratio(seconds["64 layers"], seconds["32 layers"])
    print(f"Halite, llama-7b {precision} with 64 layers / with 32: compile {show_ratio(found)}")
    return {"compile_seconds": seconds, **found}


def measure_precision(options, precision, folder):
    """Every config in one precision."""
    found = {"configs": {}}
    for name in options.configs:
        (folder / name).mkdir()
        figures, files = compile_all(options, name, precision, folder / name)
        for xla in options.xla if name in (*EXECUTED, *COMPILED) else ():
            for compiler, executed in execute_all(options, name, files, xla).items():
                figures[compiler] |= executed
        compared = ratios(figures)
        print_table(f"{name}, {precision}", figures, compared)
        found["configs"][name] = {"figures": figures, "ratios": compared}
    if options.halite and "llama-7b" in options.configs:
        found["doubled_layers"] = doubled_layers(options, precision, folder)
    return found


def main():
    options = arguments()
    report = {
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version()} | {p: version(p) for p in ("jax", "jaxlib", "numpy")},
        "runs": {"compile": options.compile_runs, "step": options.runs},
        "precisions": {},
    }
    with tempfile.TemporaryDirectory() as temporary:
        for precision in options.precision:
            folder = Path(temporary) / precision
            folder.mkdir()
            report["precisions"][precision] = measure_precision(options, precision, folder)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
