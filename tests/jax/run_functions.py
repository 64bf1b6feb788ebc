"""Runs StableHLO functions that Halite wrote for the program of another within JAX's `shard_map`, and compares each collective with numpy.

    pip install -r requirements.txt    # or jax==0.7.0 jaxlib==0.7.0
    python run_functions.py            # reads ../../compiler/stablehlo/tests/functions.mlir

The functions are moved into a program that sums over ranks itself, calls them twice on a mesh of `data` = 4 by `tensor` = 2 virtual devices
of the CPU, and donates what it hands them.
"""

import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")

import jax
import jaxlib
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.sharding import Mesh, PartitionSpec
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

TEXT = Path(__file__).resolve().parents[2] / "compiler/stablehlo/tests/functions.mlir"
DATA, TENSOR, LONG, SHORT = 4, 2, 8, 4
RANKS = DATA * TENSOR

# JAX may make a function of the primitive's name, which is not to be that of ours.
step = Primitive("functions")
step.multiple_results = True


def results(x, y):
    """The types that the functions give for arrays of one rank."""
    shapes = [[LONG], [LONG], [SHORT], [SHORT], [2 * LONG], [2 * SHORT], [LONG // DATA], [SHORT // DATA], [LONG], [LONG]]
    arrays = [jax.core.ShapedArray(shape, np.dtype("float32")) for shape in shapes]
    return [*arrays, jax.core.ShapedArray([], np.dtype("uint32"))]


step.def_abstract_eval(results)


def lower(ctx, x, y):
    """Moves the functions into the program, once, and calls the entry."""
    symbols = ctx.module_context.symbol_table
    if "step" not in symbols:
        module = ir.Module.parse(TEXT.read_text())
        for function in module.body.operations:
            assert function.sym_visibility.value == "private"
            copy = function.operation.clone()
            ctx.module_context.module.body.append(copy)
            assert symbols.insert(copy) == function.sym_name, "it was renamed"
    return func.CallOp(symbols["step"], [x, y]).results


mlir.register_lowering(step, lower)


def expected(x, y):
    """What each rank gets, by rank, from the arrays of all ranks."""
    along_data = lambda rank: [rank % TENSOR + TENSOR * other for other in range(DATA)]
    along_tensor = lambda rank: [rank - rank % TENSOR + other for other in range(TENSOR)]
    block = lambda x: np.stack([x[along_tensor(rank)].sum(0) + x[rank] for rank in range(RANKS)])
    part = lambda array, rank: np.split(array, DATA)[rank // TENSOR]
    permuted = np.zeros_like(x)
    for source, target in [(0, 2), (2, 4), (4, 6), (6, 0), (1, 3)]:
        permuted[target] = x[source]
    of_ranks = lambda function: np.stack([function(rank) for rank in range(RANKS)])
    return [
        block(block(x)),
        of_ranks(lambda rank: x[along_data(rank)].sum(0)),
        of_ranks(lambda rank: y[along_data(rank)].sum(0)),
        of_ranks(lambda rank: y.max(0)),
        of_ranks(lambda rank: x[along_tensor(rank)].reshape(-1)),
        of_ranks(lambda rank: y[along_tensor(rank)].reshape(-1)),
        of_ranks(lambda rank: part(x[along_data(rank)].sum(0), rank)),
        of_ranks(lambda rank: part(y[along_data(rank)].sum(0), rank)),
        of_ranks(lambda rank: np.concatenate([part(x[other], rank) for other in along_data(rank)])),
        permuted,
        np.arange(RANKS),
    ]


def main():
    print(f"jax {jax.__version__}, jaxlib {jaxlib.__version__}")
    mesh = Mesh(np.array(jax.devices()).reshape(DATA, TENSOR), ("data", "tensor"))
    spec = PartitionSpec(("data", "tensor"))

    def local(x, y):
        first = step.bind(x, y)
        total = jax.lax.psum(first[0], ("data", "tensor"))
        second = step.bind(first[1], first[2])
        return [array.reshape(1, -1) for array in [*first, total, *second]]

    program = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False), donate_argnums=0)
    # Small whole numbers, whose sums are exact.
    random = np.random.default_rng(7)
    x, y = (random.integers(-99, 99, (RANKS, size)).astype("float32") for size in (LONG, SHORT))
    found = [np.asarray(array) for array in program(x.reshape(-1), y.reshape(-1))]
    first = expected(x, y)
    wanted = [*first, np.stack([first[0].sum(0)] * RANKS), *expected(first[1], first[2])]
    wrong = [number for number, pair in enumerate(zip(found, wanted, strict=True)) if not np.array_equal(pair[0], pair[1].reshape(RANKS, -1))]
    print(f"{len(wanted)} results of {RANKS} ranks, {len(wrong)} differ{f': {wrong}' if wrong else ''}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
