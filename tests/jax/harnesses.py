"""JAX's own test harnesses as models' parts: read, lifted and interpreted by Halite, values and gradients held to JAX.

    pip install -r requirements.txt absl-py
    cargo build -p halite-tests --example lifted
    python harnesses.py ../../target/debug/examples/lifted              # one in ten, seeded
    python harnesses.py ../../target/debug/examples/lifted --every 1    # all of them

Harnesses are those of `jax._src.internal_test_util.test_harnesses` with f64, f32, bf16, s32, u32 or pred. Values are held to what JAX computes
of the same arguments: in f64 to 1e-9 of the largest element, in f32 to 1e-4, in f16 to 1e-3, in bf16 to 1e-1, integers exactly. Gradients
are those of the sum of the results times random weights, in f64, where JAX has one and the sum is finite; the others are counted too.
Counts are by group and by what became of it; a wrong one is printed, and the exit code is 1. Counted apart is what may differ:

- sorts that need not keep the order of equal elements, if keys are equal and the elements that go with them the same ones;
- `top_k` of NaN and zeros of both signs: their order is stated nowhere;
- sums of bf16 by scatters, which XLA rounds after each number and Halite once, where little is left of larger numbers: to 1e-1 of those;
- f64 rounded to f16, which XLA's CPU rounds to f32 before, and so sometimes to another neighbour; a gradient is of a sum of such.

The gradient of `digamma` is held to SciPy's: that of JAX is far off at some negative numbers.
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
import scipy.special
from jax._src.internal_test_util import test_harnesses

TYPES = {"float64", "float32", "bfloat16", "int32", "uint32", "bool"}

ALLOWED = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-3, "bfloat16": 1e-1}
"""Of the largest element of a result, by its type."""


def drawn(every, seed):
    """Some of the harnesses."""
    own = [harness for harness in test_harnesses.all_harnesses if np.dtype(harness.dtype).name in TYPES and harness.filter("cpu")]
    random.Random(seed).shuffle(own)
    return own[: len(own) // every]


LOOSE = {
    "gradients": {"convert_element_type": 1e-3},
    "values": {},
}
"""How far gradients and values of a group may be from JAX's, counted apart."""


def largest(arrays):
    """The largest element of arrays."""
    return max((float(np.abs(np.asarray(array, np.float64)).max(initial=0)) for array in arrays), default=0.0)


def became(mode, harness, found, leaves, args):
    """What became of the bytes of results: right, wrong, or apart."""
    allowed = max((ALLOWED.get(np.asarray(leaf).dtype.name, 0.0) for leaf in leaves), default=0.0)
    distance = ops.distance(found, leaves)
    if distance <= allowed:
        return "right"
    is_open = distance <= LOOSE[mode].get(harness.group_name, -1.0)
    if mode == "values" and harness.group_name == "sort" and not harness.params["is_stable"]:
        is_open = is_same_sort(found, [np.asarray(leaf) for leaf in leaves], harness.params)
    if mode == "values" and harness.group_name == "scatter_add" and np.asarray(leaves[0]).dtype.name == "bfloat16":
        is_open = distance * largest(leaves) <= allowed * largest(args)
    if mode == "values" and harness.group_name == "top_k":
        is_open = is_same_top(found, [np.asarray(leaf) for leaf in leaves])
    return "apart" if is_open else "wrong"


def tensors(found, leaves):
    """The tensors that bytes are, of the types of others."""
    parts, rest = [], found
    for leaf in leaves:
        parts.append(np.frombuffer(rest[: leaf.nbytes], leaf.dtype).reshape(leaf.shape))
        rest = rest[leaf.nbytes :]
    return parts


def is_same_sort(found, leaves, params):
    """Whether keys are equal, and in each line of elements the same ones go with each other."""
    parts = tensors(found, leaves)
    if not all(np.array_equal(mine, own) for mine, own in list(zip(parts, leaves))[: params["num_keys"]]):
        return False
    lines = lambda tensors: np.stack([np.moveaxis(own, params["dimension"], -1) for own in tensors], -1).reshape(-1, leaves[0].shape[params["dimension"]], len(leaves))
    together = lambda tensors: [sorted(map(tuple, line.tolist())) for line in lines(tensors)]
    return together(parts) == together(leaves)


def is_same_top(found, leaves):
    """Whether the largest elements are the same ones where NaN and zeros of either sign are in any order."""
    parts = tensors(found, leaves)
    rows = lambda values: np.sort(values.astype(np.float64), axis=-1)
    return np.array_equal(rows(parts[0]), rows(leaves[0]), equal_nan=True) and (np.isnan(leaves[0]).any() or (leaves[0] == 0).any())


SLOPES = {"digamma": lambda x: scipy.special.polygamma(1, x)}
"""Derivatives of functions of one array that JAX does not have right."""


def gradient(group, function, args, seed):
    """The loss of a function of arrays of f64 and its value with gradients by JAX; `None` where it has none, or no value."""
    if not args or any(np.asarray(arg).dtype != np.float64 for arg in args):
        return None
    try:
        loss = ops.objective(function, args, np.random.default_rng(seed))
        value, gradients = jax.value_and_grad(loss, argnums=tuple(range(len(args))))(*args)
        if slope := SLOPES.get(group):
            line = ops.objective(lambda x: slope(args[0]) * x, args, np.random.default_rng(seed))
            gradients = [jax.grad(line)(*args)]
    except Exception:  # JAX has no gradient of some, and none of whole numbers.
        return None
    return (loss, [value, *gradients]) if np.isfinite(value) else None


def collected(folder, harnesses, seed):
    """The programs of harnesses by mode and path, with their groups and what JAX computes; how many have no gradient by JAX."""
    without = 0
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
        cases["values"][str(path)] = (harness, leaves, args)
        if not (made := gradient(harness.group_name, function, args, [seed, number])):
            without += 1
        else:
            path = ops.written(folder, f"{number}.loss", made[0], args)
            cases["gradients"][str(path)] = (harness, made[1], args)
    return cases, without


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the example `lifted`")
    parser.add_argument("--every", type=int, default=10, help="one harness of so many")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    reasons, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        cases, without = collected(Path(folder), drawn(options.every, options.seed), options.seed)
        for mode, expected in cases.items():
            counts, groups = collections.Counter(), collections.defaultdict(collections.Counter)
            refused = ops.run(options.program, mode, list(expected))
            for path, (harness, leaves, args) in expected.items():
                if path in refused:
                    kind = "refused"
                    reasons[f"{mode}: {refused[path]}"] += 1
                else:
                    kind = became(mode, harness, Path(f"{path}.out").read_bytes(), leaves, args)
                counts[kind] += 1
                groups[harness.group_name][kind] += 1
                wrong += [f"{mode}: {harness.fullname}"] * (kind == "wrong")
            print(f"{mode}: {len(expected)} harnesses,", ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
            for group, own in sorted(groups.items()):
                print(f"    {group}:", ", ".join(f"{count} {kind}" for kind, count in own.most_common()))
    print(f"{without} have no gradient by JAX, no argument of f64 alone, or no finite sum")
    for reason, count in reasons.most_common():
        print(f"{count:>6}  {reason}")
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
