"""Random applications of the ops that programs of others have, by Halite's interpreter and by JAX, in f64.

    pip install -r requirements.txt
    cargo build -p halite-tests --example lifted
    python ops.py ../../target/debug/examples/lifted gather scatter          # 200 of each, seeded
    python ops.py ../../target/debug/examples/lifted --count 1000 --seed 3   # every op

Each case is a program that JAX prints as StableHLO, which Halite reads, lifts and interprets: its results, and the gradient of the sum of
its results times random weights, are held to JAX's, to 1e-9 of the largest expected element. Cases are counted by what became of them; one
that is wrong is printed, and the exit code is 1.
"""

import argparse
import collections
import random
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import numpy as np
from jax import lax

lowered = runpy.run_path(str(Path(__file__).parents[2] / "bindings/python/python/halite/jax/_gradients.py"))["lowered"]
"""The program of a traced function, as `halite.jax.model` has it."""

MODES = ["clip", "fill", "promise_in_bounds"]


def array(rng, shape, dtype=np.float64):
    """Random elements; integers are small, so that some are equal."""
    if np.dtype(dtype).kind == "b":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind == "f":
        return rng.uniform(0.5, 2.0, shape).astype(dtype)
    return rng.integers(-9, 10, shape).astype(dtype)


def addressing(rng):
    """A tensor's shape, windows in it and indices: what gathers and scatters have in common."""
    rank = int(rng.integers(1, 5))
    shape = [int(rng.integers(1, 6)) for _ in range(rank)]
    dims = list(rng.permutation(rank))
    batching = [int(dim) for dim in sorted(dims[: rng.integers(0, 2) if rank > 1 else 0])]
    left = [int(dim) for dim in dims if dim not in batching]
    mapped = left[: rng.integers(1, len(left) + 1)]
    rng.shuffle(mapped)
    batch = [int(rng.integers(1, 4)) for _ in range(rng.integers(0, 3))]
    places = list(range(len(batch)))
    of_indices = []
    for dim in batching:
        place = int(rng.integers(0, len(batch) + 1))
        batch.insert(place, shape[dim])
        of_indices = [own + (own >= place) for own in of_indices] + [place]
    sizes = [1 if dim in batching else int(rng.integers(1, shape[dim] + 1)) for dim in range(rank)]
    single = sorted(dim for dim in left if sizes[dim] == 1 and rng.random() < 0.7)
    kept = [dim for dim in range(rank) if dim not in single and dim not in batching]
    outer = len(batch) + len(kept)
    walks = sorted(int(dim) for dim in rng.permutation(outer)[: len(kept)])
    low, high = (-2, 7) if rng.random() < 0.5 else (0, 3)
    indices = rng.integers(low, high, [*batch, len(mapped)]).astype(np.int32)
    window, others = iter(sizes[dim] for dim in kept), iter(batch)
    updates = [next(window) if dim in walks else next(others) for dim in range(outer)]
    return shape, sizes, walks, single, mapped, batching, of_indices, indices, updates


def gather(rng):
    shape, sizes, walks, single, mapped, batching, of_indices, indices, _ = addressing(rng)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(walks),
        collapsed_slice_dims=tuple(single),
        start_index_map=tuple(mapped),
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=tuple(of_indices),
    )
    mode = MODES[int(rng.integers(0, 2))]
    return lambda x, at: lax.gather(x, at, numbers, tuple(sizes), mode=mode), [array(rng, shape), indices]


def scatter(rng):
    shape, _, walks, single, mapped, batching, of_indices, indices, updates = addressing(rng)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(walks),
        inserted_window_dims=tuple(single),
        scatter_dims_to_operand_dims=tuple(mapped),
        operand_batching_dims=tuple(batching),
        scatter_indices_batching_dims=tuple(of_indices),
    )
    ops = [lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max]
    op = ops[int(rng.choice(5, p=[0.3, 0.4, 0.1, 0.1, 0.1]))]
    mode = MODES[int(rng.integers(0, 2))]
    function = lambda x, at, updates: op(x, at, updates, numbers, mode=mode)
    function.smooth = op in (lax.scatter, lax.scatter_add)
    return function, [array(rng, shape), indices, array(rng, updates)]


def convolution(rng):
    spatial = int(rng.integers(0, 4))
    features, batches = [(1, 1), (int(rng.integers(2, 4)), 1), (1, int(rng.integers(2, 4)))][int(rng.choice(3, p=[0.5, 0.25, 0.25]))]
    sizes, window = rng.integers(1, 7, spatial), rng.integers(1, 4, spatial)
    taken = int(rng.integers(1, 3))
    lhs = [batches * int(rng.integers(1, 3)), features * taken, *sizes]
    rhs = [features * batches * int(rng.integers(1, 3)), taken, *window]
    orders = [tuple(int(dim) for dim in rng.permutation(spatial + 2)) for _ in range(3)]
    lists = [[int(number) for number in rng.choice(4, spatial, p=[0, 0.6, 0.3, 0.1])] for _ in range(3)]
    padding = [(int(rng.integers(-1, 4)), int(rng.integers(-1, 4))) for _ in range(spatial)]
    dilated = lambda size, by: (int(size) - 1) * by + 1
    for dim in range(spatial):
        room = dilated(sizes[dim], lists[1][dim]) + sum(padding[dim]) - dilated(window[dim], lists[2][dim])
        if room < 0:
            padding[dim] = (padding[dim][0], padding[dim][1] - room)
    placed = lambda shape, order: np.array([shape[order.index(dim)] for dim in range(spatial + 2)])
    function = lambda x, kernel: lax.conv_general_dilated(
        x, kernel, lists[0], padding, lists[1], lists[2], lax.ConvDimensionNumbers(*orders), features, batches
    )
    return function, [array(rng, placed(lhs, orders[0])), array(rng, placed(rhs, orders[1]))]


def windows(rng):
    rank = int(rng.integers(1, 4))
    sizes, window = [int(size) for size in rng.integers(1, 8, rank)], [int(size) for size in rng.integers(1, 4, rank)]
    kind = int(rng.integers(0, 3))
    lists = [[int(number) for number in rng.choice(4, rank, p=[0, 0.6, 0.3, 0.1])] for _ in range(3)]
    if kind > 0 and rng.random() < 0.7:
        lists[1:] = [[1] * rank, [1] * rank]
    padding = [(int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in range(rank)]
    init, op = [(0.0, lax.add), (-np.inf, lax.max), (np.inf, lax.min)][kind]
    dilated = lambda size, by: (size - 1) * by + 1
    for dim in range(rank):
        room = dilated(sizes[dim], lists[1][dim]) + sum(padding[dim]) - dilated(window[dim], lists[2][dim])
        if room < 0:
            padding[dim] = (padding[dim][0], padding[dim][1] - room)
    function = lambda x: lax.reduce_window(x, init, op, window, lists[0], padding, lists[1], lists[2])
    function.smooth = kind == 0 or max(lists[1] + lists[2]) == 1
    return function, [array(rng, sizes)]


def small(rng, least=1):
    """A random shape, and one of its dimensions."""
    shape = [int(size) for size in rng.integers(least, 7, rng.integers(1, 4))]
    return shape, int(rng.integers(0, len(shape)))


def special(rng, shape):
    """Random floats of which some are equal, zeros of both signs, infinities and NaN of both signs."""
    values = [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, np.inf, -np.inf, np.nan, -np.nan]
    return rng.choice(values, shape)


def sort(rng):
    shape, dim = small(rng)
    count, floats = int(rng.integers(1, 5)), bool(rng.random() < 0.7)
    keys = int(rng.integers(1, min(count, 3) + 1))
    types = [np.float64, np.float32, np.int32, np.int64, np.uint8, np.bool_]
    made = [array(rng, shape, np.float64 if floats else types[int(rng.integers(0, len(types)))]) for _ in range(count)]
    if rng.random() < 0.3:
        made = [special(rng, shape).astype(leaf.dtype) if leaf.dtype.kind == "f" else leaf for leaf in made]
    form = int(rng.integers(0, 4))
    functions = [
        lambda *operands: lax.sort(operands, dimension=dim, num_keys=keys),
        lambda x, *_: jnp.sort(x, dim, descending=keys == 1),
        lambda x, *_: jnp.argsort(x, dim, descending=keys == 1),
        lambda *operands: jnp.lexsort(operands[:3], axis=dim),
    ]
    function = lambda *operands: functions[form](*operands)
    function.smooth = floats and all(np.isfinite(leaf).all() and np.unique(leaf).size == leaf.size for leaf in made)
    return function, made


def top_k(rng):
    shape, _ = small(rng)
    x = array(rng, shape, [np.float64, np.float64, np.int32][int(rng.integers(0, 3))])
    count = int(rng.integers(1, shape[-1] + 1))
    return lambda x: lax.top_k(x, count), [x]


def coupled(a, b):
    """A product with its derivative, and the logarithm of a sum of exponentials. JAX's gradients need that the order tells nothing."""
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0], jnp.logaddexp(a[2], b[2])


def reductions(rng):
    shape, _ = small(rng)
    dims = tuple(int(dim) for dim in rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)])
    form = int(rng.integers(0, 9))
    x = array(rng, shape)
    if form == 0 and rng.random() < 0.5:
        x = np.where(rng.random(shape) < 0.3, 0.0, x)
    bits = array(rng, shape, np.int32)
    functions = [
        lambda x, bits: jnp.prod(x, dims),
        lambda x, bits: jnp.prod(bits, dims),
        lambda x, bits: jnp.any(x > 1.2, dims),
        lambda x, bits: jnp.all(x > 1.2, dims),
        lambda x, bits: lax.reduce_xor(bits, dims),
        lambda x, bits: lax.reduce_and(bits, dims),
        lambda x, bits: lax.reduce_or(bits, dims),
        lambda x, bits: lax.reduce((x, bits), (1.0, np.int32(0)), lambda a, b: (a[0] * b[0], a[1] + b[1]), dims),
        lambda x, bits: lax.reduce((x, x, x), (1.0, 0.0, -np.inf), coupled, dims),
    ]
    function = lambda x, bits: functions[form](x, bits)
    function.smooth = form in (0, 8)
    return function, [x, bits]


def cumulative(rng):
    shape, dim = small(rng)
    forms = [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp]
    form, reverse = forms[int(rng.integers(0, len(forms)))], bool(rng.random() < 0.5)
    x = array(rng, shape, np.float64 if form is lax.cumlogsumexp or rng.random() < 0.8 else np.int32)
    if form is lax.cumprod and x.dtype.kind == "f" and rng.random() < 0.5:
        x = np.where(rng.random(shape) < 0.3, 0.0, x)
    return lambda x: form(x, axis=dim, reverse=reverse), [x]


def branches(rng):
    """A branch that data says, some of which are not finite where they are not taken. JAX makes choices of those of a batch of data, whose
    gradients need finite ones."""
    shape, _ = small(rng)
    form = int(rng.integers(0, 3))
    finite = [jnp.sin, jnp.cos, jnp.exp, jnp.log, jnp.sqrt]
    of = finite if form == 2 else [jnp.sin, lambda x: jnp.log(x - 1.2), lambda x: x / (x - x), lambda x: jnp.sqrt(x - 5.0), lambda x: 2.0 * x * x]
    chosen = [of[int(at)] for at in rng.permutation(len(of))[: rng.integers(2, 5)]]
    at = int(rng.integers(-1, len(chosen) + 1))
    w = array(rng, shape)
    functions = [
        lambda x, w, at: lax.cond(at > 0, lambda x: chosen[0](x) + w, lambda x: chosen[1](x) * w, x),
        lambda x, w, at: lax.switch(at, [lambda x, f=f: (f(x), w * f(w)) for f in chosen], x),
        lambda x, w, at: jax.vmap(lambda a: lax.cond(a > 1.2, chosen[0], chosen[1], a))(x.reshape(-1)),
    ]
    return lambda x, w, at: functions[form](x, w, at), [array(rng, shape), w, np.int32(at)]


KINDS = {
    "branches": branches,
    "convolution": convolution,
    "cumulative": cumulative,
    "gather": gather,
    "reductions": reductions,
    "scatter": scatter,
    "sort": sort,
    "top_k": top_k,
    "windows": windows,
}


def objective(function, args, rng):
    """The sum of a program's floats times random weights."""
    results = jax.eval_shape(function, *args)
    weights = [array(rng, result.shape) for result in jax.tree.leaves(results)]

    def loss(*args):
        leaves = jax.tree.leaves(function(*args))
        floats = [(leaf, weight) for leaf, weight in zip(leaves, weights) if jnp.issubdtype(leaf.dtype, jnp.floating)]
        return sum((jnp.sum(leaf * weight) for leaf, weight in floats), jnp.float64(0))

    return loss


def written(folder, name, function, args):
    """Writes a program and its arguments."""
    path = folder / f"{name}.mlir"
    path.write_text(lowered(jax.jit(function, keep_unused=True).trace(*args)).as_text())
    Path(f"{path}.in").write_bytes(b"".join(np.asarray(arg).tobytes() for arg in args))
    return path


def distance(found, expected):
    """The largest difference from what is expected, relative to its largest element."""
    rest, worst = found, 0.0
    for own in (np.asarray(leaf) for leaf in expected):
        if len(rest) < own.nbytes:
            return np.inf
        mine = np.frombuffer(rest[: own.nbytes], own.dtype).reshape(own.shape).astype(np.float64)
        rest, own = rest[own.nbytes :], own.astype(np.float64)
        same = (mine == own) | (np.isnan(mine) & np.isnan(own))
        with np.errstate(invalid="ignore"):
            apart = np.where(same, 0.0, np.abs(mine - own))
        scale = np.max(np.abs(np.where(np.isfinite(own), own, 0.0)), initial=1e-300)
        worst = max(worst, float(np.max(np.nan_to_num(apart, nan=np.inf), initial=0.0) / scale))
    return np.inf if rest else worst


def run(program, mode, paths):
    """Why programs were refused, by their paths."""
    refused = {}
    for first in range(0, len(paths), 100):
        done = subprocess.run([program, mode, *paths[first : first + 100]], capture_output=True, text=True, check=True)
        refused |= dict(line.split("\t", 1) for line in done.stderr.splitlines() if "\t" in line)
    return refused


def compare(program, kind, count, seed):
    """Counts of cases, and those that are wrong."""
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        cases = {"values": {}, "gradients": {}}
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            function, args = KINDS[kind](rng)
            path = written(Path(folder), f"{number}", function, args)
            cases["values"][str(path)] = jax.tree.leaves(jax.jit(function)(*args))
            floats = tuple(at for at, arg in enumerate(args) if np.asarray(arg).dtype.kind == "f")
            if not getattr(function, "smooth", True) or not floats:
                continue
            loss = objective(function, args, rng)
            path = written(Path(folder), f"{number}.loss", loss, args)
            value, gradients = jax.value_and_grad(loss, argnums=floats)(*args)
            cases["gradients"][str(path)] = [value, *gradients]
        for mode, expected in cases.items():
            refused = run(program, mode, list(expected))
            for path, leaves in expected.items():
                if path in refused:
                    counts[f"{mode} refused: {refused[path]}"] += 1
                    continue
                apart = distance(Path(f"{path}.out").read_bytes(), leaves)
                counts[f"{mode} {'equal' if apart < 1e-9 else 'wrong'}"] += 1
                if apart >= 1e-9:
                    wrong.append(f"{mode} apart by {apart}:\n{Path(path).read_text()}")
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the example `lifted`")
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all where none is named")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print(f"jax {jax.__version__}, seed {args.seed}")
    failed = False
    for kind in args.kinds or KINDS:
        counts, wrong = compare(args.program, kind, args.count, args.seed)
        for line, count in sorted(counts.items()):
            print(f"{kind}: {count} {line}")
        for text in wrong[:3]:
            print(text)
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
