"""Programs that JAX prints as StableHLO, read by Halite, run by JAX's own XLA and held to what JAX computes.

    pip install -r requirements.txt absl-py
    cargo build --release -p halite-stablehlo --example read
    python read_stablehlo.py ../../target/release/examples/read              # one in ten of JAX's harnesses, seeded
    python read_stablehlo.py ../../target/release/examples/read --every 1    # all of them

Harnesses are those of `jax._src.internal_test_util.test_harnesses` with f64, f32, bf16, s32, u32 or pred. Each is lowered, printed with
locations, read, run and compared: equal bits, or close to 1e-5 (bf16: 1e-2) where JAX decomposes an operation in another way. Refused ones
are counted by the first fault. A wrong one is printed, and the exit code is 1.
"""

import argparse
import collections
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import numpy as np
from jax._src.internal_test_util import test_harnesses
from jax._src.lib import xla_client

TYPES = {"float64", "float32", "bfloat16", "int32", "uint32", "bool"}
DEVICE = jax.devices("cpu")[0]


def run(hlo, args):
    """The results of HLO, as arrays."""
    module = xla_client._xla.mlir.hlo_to_stablehlo(hlo)
    devices = xla_client.DeviceList((DEVICE,))
    executable = DEVICE.client.compile_and_load(module, devices, xla_client.CompileOptions())
    return [np.asarray(result) for result in executable.execute([jax.device_put(arg, DEVICE) for arg in args])]


def distance(found, expected):
    """The largest difference of two results, relative to what is expected; infinite where they are of other kinds."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return np.inf
    if found.tobytes() == expected.tobytes():
        return 0.0
    if expected.dtype.kind not in "fV" and expected.dtype.name != "bfloat16":
        return np.inf
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return float(np.max(np.where(same, 0.0, np.nan_to_num(np.abs(found - expected) / (np.abs(expected) + 1e-3), nan=np.inf))))


def lowered(folder, every, seed):
    """Harnesses with their operands, as far as JAX lowers them, and the files of their texts."""
    harnesses = [own for own in test_harnesses.all_harnesses if np.dtype(own.dtype).name in TYPES and own.filter("cpu")]
    random.Random(seed).shuffle(harnesses)
    rng = np.random.RandomState(seed)
    for number, harness in enumerate(harnesses[: len(harnesses) // every]):
        try:
            args = harness.dyn_args_maker(rng)
            program = jax.jit(harness.dyn_fun, keep_unused=True).lower(*args)
        except Exception:  # JAX refuses some of its own.
            continue
        file = folder / f"{number}.mlir"
        file.write_text(program.as_text(debug_info=True))
        yield harness, args, program, file


def reported(counts, reasons, wrong):
    """Prints counts, those of reasons, and what is wrong; whether anything is."""
    for table in (counts, reasons):
        print("\n".join(f"{count:>6}  {what}" for what, count in table.most_common()), end="\n\n")
    print("\n".join(wrong))
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", help="the example `read` of halite-stablehlo")
    parser.add_argument("--every", type=int, default=10, help="one harness of so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts, reasons, wrong = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        cases = list(lowered(Path(folder), options.every, options.seed))
        files = [str(file) for *_, file in cases]
        said = subprocess.run([options.reader, *files], check=True, capture_output=True, text=True).stderr
        faults = {}
        for line in said.splitlines():
            file, message = line.split("\t", 1)
            faults.setdefault(file, message)
        for harness, args, program, file in cases:
            if str(file) in faults:
                counts["refused"] += 1
                reasons[faults[str(file)]] += 1
                continue
            operands = [np.asarray(arg) for arg in jax.tree_util.tree_leaves(args)]
            expected = [np.asarray(result) for result in jax.tree_util.tree_leaves(program.compile()(*args))]
            found = run(Path(f"{file}.hlo.pb").read_bytes(), operands)
            far = max((distance(*pair) for pair in zip(found, expected, strict=True)), default=0.0)
            close = 1e-2 if any(result.dtype.name == "bfloat16" for result in expected) else 1e-5
            kind = "equal bits" if far == 0 else "close" if far <= close else "wrong"
            counts[kind] += 1
            wrong += [f"{harness.fullname}: {far}"] * (kind == "wrong")
    print(f"jax {jax.__version__}, {len(cases)} harnesses")
    return reported(counts, reasons, wrong)


if __name__ == "__main__":
    sys.exit(main())
