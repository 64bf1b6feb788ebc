"""Halite's training step beside JAX's on a GPU: the HLO of both is made here, and run where JAX has a GPU.

    .venv/bin/python gpu.py make --halite ../../target/release/halite -o steps     # here; `steps` holds some MB
    python gpu.py run steps --json gpu.json                                        # there, with JAX for its GPU

Both steps go the same way as in peer.py: HLO bytes, StableHLO, XLA's compiler for the GPU, state donated. Ratios are Halite over JAX.
Calls of functions are left to XLA (`emit.calls = "compiler"`): kept, as they are for the CPU, they take a GPU more than twice the time.
"""

import argparse
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from configs import CONFIGS, GPU

HERE = Path(__file__).parent
DEFAULT = ("slice", *GPU)


def make(options):
    """Writes a file of HLO for each compiler, config and precision, and what to run."""
    from peer import PEERS, VARIANTS, halite_command, jax_command, train_step_file

    requests = {}
    options.set.append("emit.calls=compiler")
    for name in options.configs:
        for precision in options.precision:
            folder = options.output / f"{name}-{precision}"
            folder.mkdir(parents=True)
            bundle = folder / "bundle"
            (command,) = halite_command(options, CONFIGS[name], precision, bundle)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            steps = {"Halite": train_step_file(bundle).rename(folder / "halite.hlo.pb")}
            for peer, variant in zip(PEERS, VARIANTS):
                steps[peer] = folder / f"{variant}.hlo.pb"
                command, environment = jax_command(name, precision, variant, steps[peer])
                subprocess.run(command, check=True, env=environment)
            subprocess.run(["rm", "-r", bundle], check=True)
            steps = {compiler: str(path.relative_to(options.output)) for compiler, path in steps.items()}
            requests[f"{name} {precision}"] = {"vocab": CONFIGS[name].vocab, "steps": steps}
    (options.output / "requests.json").write_text(json.dumps(requests, indent=2) + "\n")


def run(options):
    """Runs what `make` wrote on the device that JAX finds first."""
    import jax

    from peer import print_table, ratio

    report = {
        "device": jax.devices()[0].device_kind,
        "versions": {package: version(package) for package in ("jax", "jaxlib")},
        "configs": {},
    }
    print(f"{report['device']}, JAX {version('jax')}", flush=True)
    for title, request in json.loads((options.steps / "requests.json").read_text()).items():
        steps = {compiler: str(options.steps / path) for compiler, path in request["steps"].items()}
        request = json.dumps({"runs": options.runs, "vocab": request["vocab"], "steps": steps})
        done = subprocess.run([sys.executable, HERE / "execute.py", request], capture_output=True, text=True)
        if done.returncode:
            print(f"{title}: failed\n{done.stderr[-2000:]}", flush=True)
            continue
        figures = json.loads(done.stdout)
        ours = figures["Halite"]
        compared = {
            peer: {key: ratio(ours[key], found[key]) for key in ours if key != "alias_bytes"}
            for peer, found in figures.items()
            if peer != "Halite"
        }
        print_table(title, figures, compared)
        report["configs"][title] = {"figures": figures, "ratios": compared}
        if options.json:
            options.json.write_text(json.dumps(report, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help=make.__doc__)
    making.add_argument("--halite", type=Path, required=True, help="the release binary of halite")
    making.add_argument("--configs", nargs="+", choices=CONFIGS, default=list(DEFAULT))
    making.add_argument("--precision", nargs="+", choices=("fp32", "mixed"), default=["mixed", "fp32"])
    making.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed to every halite compile")
    making.add_argument("-o", "--output", type=Path, required=True)
    making.set_defaults(function=make)
    running = commands.add_parser("run", help=run.__doc__)
    running.add_argument("steps", type=Path, help="what `make` wrote")
    running.add_argument("--runs", type=int, default=30, help="interleaved runs per step")
    running.add_argument("--json", type=Path, help="write every figure to this file")
    running.set_defaults(function=run)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
