"""Ranks layouts of a small model by Halite's estimate and by running them, on virtual CPU devices of this machine.

    python ranking.py --halite PROGRAM [--text FILE] [--steps N] [--json FILE]

The machine is measured by programs of JAX that know nothing of the model: rates of products, of other arithmetic and of memory, the time of a
sum over all devices, large and small, and of starting a program. Nothing is fitted. Prints both times of each layout, and Kendall's tau of the
two orders: 1 where they agree, 0 where they have nothing to do with one another.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

DEVICES = 8
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES} " + os.environ.get("XLA_FLAGS", "")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from configs import CONFIGS  # noqa: E402

SEQUENCES = 16
# What `parallel` says of each: data, fsdp, tensor, sequence, zero.
LAYOUTS = {
    "data 8": (8, 1, 1, False, 0),
    "data 8, ZeRO-1": (8, 1, 1, False, 1),
    "fsdp 8": (1, 8, 1, False, 0),
    "data 2, fsdp 4": (2, 4, 1, False, 0),
    "tensor 2, data 4": (4, 1, 2, False, 0),
    "tensor 2, data 4, sequence": (4, 1, 2, True, 0),
    "tensor 2, fsdp 4, sequence": (1, 4, 2, True, 0),
    "tensor 4, data 2": (2, 1, 4, False, 0),
    "tensor 4, data 2, sequence": (2, 1, 4, True, 0),
    "tensor 4, fsdp 2, sequence": (1, 2, 4, True, 0),
    "tensor 8": (1, 1, 8, False, 0),
    "tensor 8, sequence": (1, 1, 8, True, 0),
}


def settings(layout):
    data, fsdp, tensor, sequence, zero = layout
    own = [setting for setting in CONFIGS["mid"].sets if not setting.startswith("batch=")]
    return own + [
        f"batch={SEQUENCES // (data * fsdp)}", f"parallel.data={data}", f"parallel.fsdp={fsdp}",
        f"parallel.tensor={tensor}", f"parallel.sequence={str(sequence).lower()}", f"parallel.zero={zero}",
    ]


def seconds(function, *arguments):
    """The median seconds of a call, after two that compile and warm up."""
    for _ in range(2):
        jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(9):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measured():
    """A description of this machine, as one of the virtual devices sees it while all work."""
    mesh = Mesh(jax.devices(), "x")
    spread = NamedSharding(mesh, PartitionSpec("x"))

    def on_all(shape, body):
        """`body` on each device by itself, for an array of `shape` on each."""
        array = jax.device_put(jnp.ones((DEVICES, *shape), jnp.float32), spread)
        mapped = jax.shard_map(body, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"))
        return seconds(jax.jit(mapped), array)

    launch = on_all((8,), lambda x: x + 1)
    times, size = 8, 512

    def products(x):
        for _ in range(times):
            x = x @ x[0] * (1 / size)
        return x

    def elements(x):
        for _ in range(times):
            x = jnp.exp(x * 0.5) + 0.25
        return x

    wide = 1 << 20
    product = (on_all((size, size), products) - launch) / times
    element = (on_all((wide,), elements) - launch) / times
    copy = on_all((4 * wide,), lambda x: x + 1) - launch
    small = on_all((8,), lambda x: jax.lax.psum(x, "x")) - launch
    large = on_all((wide,), lambda x: jax.lax.psum(x, "x")) - launch
    source = {"source": "benches/peer/ranking.py", "read": time.strftime("%Y-%m"), "basis": "observed"}
    return {
        "name": "this-cpu",
        "peaks": [{"dtype": "f32", "flops": 2 * size**3 / product}],
        "tile": [1, 1, 1],
        "elements": 3 * wide / element,
        "memory": 2 * 4 * 4 * wide / copy,
        "capacity": 1 << 34,
        "launch": launch,
        "links": [{
            "name": "memory", "ranks": 0, "bandwidth": 2 * 7 / 8 * 4 * wide / max(large - small, 1e-6),
            "latency": max(small, 0) / 2, "provenance": source,
        }],
        "efficiency": {"products": 1.0, "elements": 1.0, "memory": 1.0, "links": [1.0], "provenance": source},
        "instance": {"name": "this machine", "ranks": DEVICES},
    }


def written(value):
    """A value of TOML."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{key} = {written(own)}" for key, own in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case str():
            return json.dumps(value)
        case float():
            return f"{value:e}"
    return str(value)


def estimated(halite, machine, layout):
    sets = [part for setting in settings(layout) for part in ("--set", setting)]
    command = [halite, "plan", "tiny", "--machine", machine, "--json", *sets]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["seconds"]["all"]


def ran(halite, text, steps, layout, folder):
    sets = [part for setting in settings(layout) for part in ("--set", setting)]
    command = [halite, "train", "tiny", "--text", text, "--steps", str(steps), "-o", folder, *sets]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    records = [json.loads(line) for line in (Path(folder) / "timing.jsonl").read_text().splitlines()]
    return statistics.median(record["step_seconds"] for record in records[2:])


def tau(first, second):
    """Kendall's tau-a."""
    pairs = [(a, b) for a in range(len(first)) for b in range(a)]
    signs = [(first[a] - first[b]) * (second[a] - second[b]) for a, b in pairs]
    return (sum(sign > 0 for sign in signs) - sum(sign < 0 for sign in signs)) / len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True, help="the release binary of halite")
    parser.add_argument("--text", default="tests/data/pride-and-prejudice.txt", help="what is trained on")
    parser.add_argument("--steps", type=int, default=12, help="updates of each layout")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    arguments = parser.parse_args()
    machine = measured()
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder) / "machine.toml"
        description.write_text("".join(f"{key} = {written(value)}\n" for key, value in machine.items()))
        print(description.read_text())
        rows = []
        for number, (name, layout) in enumerate(LAYOUTS.items()):
            told = estimated(arguments.halite, description, layout)
            took = ran(arguments.halite, arguments.text, arguments.steps, layout, f"{folder}/{number}")
            rows.append({"layout": name, "estimated": told, "measured": took})
            print(f"{name:28} estimated {1e3 * told:8.1f} ms   measured {1e3 * took:8.1f} ms   {took / told:5.2f}", flush=True)
    order = tau([row["estimated"] for row in rows], [row["measured"] for row in rows])
    print(f"Kendall's tau {order:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine, "rows": rows, "tau": order}, indent=1) + "\n")


if __name__ == "__main__":
    main()
