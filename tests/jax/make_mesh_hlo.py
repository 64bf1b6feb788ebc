"""Writes the HLO of one rank as a JAX user has it, which `halite hlo check --mesh data=2,tensor=4` is held to.

    pip install -r requirements.txt
    python make_mesh_hlo.py           # writes fixtures/mesh_*.hlo.pb
    python make_mesh_hlo.py --check   # the files hold what is made now

A training step of an MLP in the layout of Megatron over 2 x 4 virtual CPU devices, by `shard_map`, with its sums over ranks written out:

- `mesh_step`: as it should be.
- `mesh_missing`: the gradient of `down` is not summed over `data`.
- `mesh_twice`: the gradient of `up` is summed over `data` twice.
- `mesh_axis`: the gradient of `down` is summed over `tensor` in place of `data`.
- `mesh_drift`: each rank along `data` moves its copy of `up` by something of its own.
- `mesh_auto`: the same step without sums, which XLA partitions.
- `mesh_whole`: that before it is partitioned.
- `mesh_compiled`: `mesh_step` once XLA has optimized it, with fusions. Its bytes depend on the CPU, so that `--check` leaves it out.

The others are what XLA dumps right after partitioning.
"""

import argparse
import os
import tempfile
from pathlib import Path

DUMPS = tempfile.TemporaryDirectory()
os.environ["XLA_FLAGS"] = (
    "--xla_force_host_platform_device_count=8 --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=spmd-partitioning "
    f"--xla_dump_to={DUMPS.name}"
)

import jax

jax.config.update("jax_platforms", "cpu")
# Sources by name, and no call stacks, so that the bytes say nothing of the machine.
jax.config.update("jax_include_full_tracebacks_in_locations", False)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

FIXTURES = Path(__file__).parent / "fixtures"
BATCH, HIDDEN, FFN, RATE = 8, 16, 32, 0.1
MESH = jax.make_mesh((2, 4), ("data", "tensor"), axis_types=(AxisType.Auto,) * 2)
WEIGHTS, BATCHES = {"up": P(None, "tensor"), "down": P("tensor", None)}, P("data")
SHAPES = {"up": (HIDDEN, FFN), "down": (FFN, HIDDEN)}


@jax.custom_vjp
def enter(x):
    """What all ranks along `tensor` read, so that its gradient is a sum over them."""
    return x


@jax.custom_vjp
def leave(x):
    """The sum of what ranks along `tensor` give."""
    return lax.psum(x, "tensor")


enter.defvjp(lambda x: (x, None), lambda _, ct: (lax.psum(ct, "tensor"),))
leave.defvjp(lambda x: (leave(x), None), lambda _, ct: (ct,))


def loss(weights, x, y, enter=enter, leave=leave):
    hidden = jnp.tanh(enter(x) @ weights["up"])
    return jnp.sum((leave(hidden @ weights["down"]) - y) ** 2)


def update(weights, gradients):
    return {name: weights[name] - RATE * gradients[name] for name in weights}


def step(reduce, move=lambda weights: weights):
    """A step that sums gradients as `reduce` says."""

    def local(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return move(update(weights, reduce(gradients))), lax.psum(value, "data")

    specs = {"in_specs": (WEIGHTS, BATCHES, BATCHES), "out_specs": (WEIGHTS, P())}
    return jax.jit(jax.shard_map(local, mesh=MESH, check_vma=False, **specs), donate_argnums=0)


def over_data(gradients):
    return {name: lax.psum(gradient, "data") for name, gradient in gradients.items()}


def missing(gradients):
    return over_data(gradients) | {"down": gradients["down"]}


def twice(gradients):
    return over_data(gradients | {"up": lax.psum(gradients["up"], "data")})


def axis(gradients):
    return over_data(gradients) | {"down": lax.psum(gradients["down"], "tensor")}


def drift(weights):
    return weights | {"up": weights["up"] + 1e-3 * lax.axis_index("data").astype(jnp.float32)}


def auto():
    def whole(weights, x, y):
        same = lambda value: value
        value, gradients = jax.value_and_grad(loss)(weights, x, y, same, same)
        return update(weights, gradients), value

    named = lambda spec: jax.tree.map(lambda own: NamedSharding(MESH, own), spec, is_leaf=lambda own: isinstance(own, P))
    shardings = {"in_shardings": named((WEIGHTS, BATCHES, BATCHES)), "out_shardings": named((WEIGHTS, P()))}
    return jax.jit(whole, donate_argnums=0, **shardings)


def lowered(function):
    weights = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in SHAPES.items()}
    batch = jax.ShapeDtypeStruct((BATCH, HIDDEN), jnp.float32)
    return function.lower(weights, batch, batch)


def partitioned(function):
    """What XLA dumps right after partitioning."""
    dumps = lambda: set(Path(DUMPS.name).glob("*after_spmd-partitioning*.hlo.pb"))
    before = dumps()
    lowered(function).compile()
    (dump,) = dumps() - before
    return dump.read_bytes()


def compiled():
    modules = lowered(step(over_data)).compile().runtime_executable().hlo_modules()
    return modules[0].as_serialized_hlo_module_proto()


FILES = {
    "mesh_step": lambda: partitioned(step(over_data)),
    "mesh_missing": lambda: partitioned(step(missing)),
    "mesh_twice": lambda: partitioned(step(twice)),
    "mesh_axis": lambda: partitioned(step(axis)),
    "mesh_drift": lambda: partitioned(step(over_data, drift)),
    "mesh_auto": lambda: partitioned(auto()),
    "mesh_whole": lambda: lowered(auto()).compiler_ir("hlo").as_serialized_hlo_module_proto(),
    "mesh_compiled": compiled,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare with the files on disk")
    checking = parser.parse_args().check
    for name, make in FILES.items():
        if checking and name == "mesh_compiled":
            continue
        file, data = FIXTURES / f"{name}.hlo.pb", make()
        if checking:
            assert file.read_bytes() == data, f"{file.name} holds something else"
        else:
            file.write_bytes(data)
        print(f"{file.name}: {len(data)} bytes, jax {jax.__version__}")


if __name__ == "__main__":
    main()
