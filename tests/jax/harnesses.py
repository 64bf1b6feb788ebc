"""JAX's own test harnesses as models' parts: read, lifted and interpreted by Halite, values and gradients held to JAX.

    pip install -r requirements.txt absl-py
    cargo build -p halite-tests --example lifted
    python harnesses.py ../../target/debug/examples/lifted              # one in ten, seeded
    python harnesses.py ../../target/debug/examples/lifted --every 1    # all of them

Harnesses are those of `jax._src.internal_test_util.test_harnesses` with f64, f32, bf16, s32, u32 or pred. Values are held to what JAX computes
of the same arguments: in f64 to 1e-9 of the largest element, in f32 to 1e-4, in bf16 to 1e-1, integers exactly. Gradients are those of the sum
of the results times random weights, in f64, where JAX has one and the sum is finite. Counts are by group and by what became of it; a wrong one is printed, and the exit
code is 1.
"""

import argparse
import collections
import random
import sys
import tempfile
from pathlib import Path

import ops  # Sets 64-bit types.

import jax
import numpy as np
from jax._src.internal_test_util import test_harnesses

TYPES = {"float64", "float32", "bfloat16", "int32", "uint32", "bool"}

ALLOWED = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 1e-1}
"""Of the largest element of a result, by its type."""


def drawn(every, seed):
    """Some of the harnesses."""
    own = [harness for harness in test_harnesses.all_harnesses if np.dtype(harness.dtype).name in TYPES and harness.filter("cpu")]
    random.Random(seed).shuffle(own)
    return own[: len(own) // every]


def is_right(found, leaves):
    """Whether the bytes of results are those that are expected."""
    allowed = max((ALLOWED.get(np.asarray(leaf).dtype.name, 0.0) for leaf in leaves), default=0.0)
    return ops.distance(found, leaves) <= allowed


def gradient(function, args, rng):
    """The loss of a function of arrays of f64 and its value with gradients by JAX; `None` where it has none, or no value."""
    if not args or any(np.asarray(arg).dtype != np.float64 for arg in args):
        return None
    try:
        loss = ops.objective(function, args, rng)
        value, gradients = jax.value_and_grad(loss, argnums=tuple(range(len(args))))(*args)
    except Exception:  # JAX has no gradient of some, and none of whole numbers.
        return None
    return (loss, [value, *gradients]) if np.isfinite(value) else None


def collected(folder, harnesses, seed):
    """The programs of harnesses by mode and path, with their groups and what JAX computes."""
    rng = np.random.RandomState(seed)
    cases = {"values": {}, "gradients": {}}
    for number, harness in enumerate(harnesses):
        try:
            args = [np.asarray(arg) for arg in jax.tree.leaves(harness.dyn_args_maker(rng))]
            function = harness.dyn_fun
            leaves = jax.tree.leaves(jax.jit(function)(*args))
            path = ops.written(folder, f"{number}", function, args)
        except Exception:  # JAX refuses some of its own.
            continue
        cases["values"][str(path)] = (harness, leaves)
        if made := gradient(function, args, np.random.default_rng([seed, number])):
            path = ops.written(folder, f"{number}.loss", made[0], args)
            cases["gradients"][str(path)] = (harness, made[1])
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the example `lifted`")
    parser.add_argument("--every", type=int, default=10, help="one harness of so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    reasons, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        cases = collected(Path(folder), drawn(options.every, options.seed), options.seed)
        for mode, expected in cases.items():
            counts, groups = collections.Counter(), collections.defaultdict(collections.Counter)
            refused = ops.run(options.program, mode, list(expected))
            for path, (harness, leaves) in expected.items():
                if path in refused:
                    kind = "refused"
                    reasons[f"{mode}: {refused[path]}"] += 1
                else:
                    kind = "right" if is_right(Path(f"{path}.out").read_bytes(), leaves) else "wrong"
                counts[kind] += 1
                groups[harness.group_name][kind] += 1
                wrong += [f"{mode}: {harness.fullname}"] * (kind == "wrong")
            print(f"{mode}: {len(expected)} harnesses,", ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
            for group, own in sorted(groups.items()):
                print(f"    {group}:", ", ".join(f"{count} {kind}" for kind, count in own.most_common()))
    for reason, count in reasons.most_common():
        print(f"{count:>6}  {reason}")
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
