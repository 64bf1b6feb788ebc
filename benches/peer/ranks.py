"""Halite's step of one rank run on a mesh: as many replicas of it as there are devices, through jaxlib."""

from math import prod

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _jax, xla_client

from agree import stored, taken_apart
from hlo import Module


def atoms(mesh):
    """The size and stride of each atom of the mesh: axes by their prime factors, ranks counted along the last atom first."""
    sizes = [factor for axis in mesh for factor in prime_factors(axis["size"])]
    return [(size, prod(sizes[at + 1 :])) for at, size in enumerate(sizes)]


def prime_factors(size):
    factor = next((n for n in range(2, size + 1) if size % n == 0), None)
    return [factor, *prime_factors(size // factor)] if factor else []


def held_indices(mesh, port, rank):
    """For each dimension the indices of the whole that a rank holds."""
    shape = port["shape"]
    held = []
    for size, digits in zip(shape, port.get("sharding") or [()] * len(shape)):
        index = np.arange(size)
        for sub_axis, _, digit in digits:
            ranks, stride = mesh[sub_axis]
            index = index[index // digit % ranks == rank // stride % ranks]
        held.append(index)
    return held


class RankStep:
    """Halite's step compiled for all ranks and, once it is given a state, ready to be run again and again."""

    def __init__(self, data, manifest, compiler_options):
        (module,) = manifest["modules"]
        self.inputs, self.outputs = module["inputs"], module["outputs"]
        self.buffers = {buffer["name"]: buffer for buffer in manifest["buffers"]}
        self.mesh, self.aliases = atoms(manifest["mesh"]), Module(data).aliases
        self.devices = jax.devices()
        options = xla_client.CompileOptions()
        options.num_replicas = len(self.devices)
        options.device_assignment = xla_client.DeviceAssignment.create(np.arange(len(self.devices))[:, None])
        options.env_option_overrides = list(compiler_options.items())
        stablehlo = _jax.mlir.hlo_to_stablehlo(data)
        devices = _jax.DeviceList(tuple(self.devices))
        self.executable = self.devices[0].client.compile_and_load(stablehlo, devices, options)
        self.arguments = None

    def text(self):
        """The HLO of one rank, as XLA optimized it."""
        return self.executable.hlo_modules()[0].to_string()

    def temp_bytes(self):
        return self.executable.get_compiled_memory_stats().temp_size_in_bytes

    def put(self, values):
        """Gives each rank its part of whole values by the names of the model."""
        whole = [stored(self.buffers[port["name"]], values) for port in self.inputs]
        shards = [
            [np.ascontiguousarray(value[np.ix_(*held_indices(self.mesh, port, rank))]) for rank in range(len(self.devices))]
            for port, value in zip(self.inputs, whole)
        ]
        self.arguments = [self._on_devices([*map(jax.device_put, shard, self.devices)]) for shard in shards]

    def _on_devices(self, shards):
        """One array of what the devices hold: beside each other, as XLA does not care what they are parts of."""
        lies = NamedSharding(Mesh(np.array(self.devices), "rank"), PartitionSpec("rank" if shards[0].ndim else None))
        shape = (len(shards) * shards[0].shape[0], *shards[0].shape[1:]) if shards[0].ndim else ()
        return jax.make_array_from_single_device_arrays(shape, lies, shards)

    def once(self):
        """One step: its aliased outputs become the arguments of the next one. What each rank answers."""
        answers = self.executable.execute_sharded(self.arguments).disassemble_into_single_device_arrays()
        for output, parameter in self.aliases.items():
            self.arguments[parameter] = self._on_devices(answers[output])
        jax.block_until_ready(answers)
        return answers

    def results(self, answers):
        """Whole values by the names of the model, from what each rank answers."""
        found = {}
        for port, shards in zip(self.outputs, answers):
            whole = np.full(port["shape"], np.nan)
            for rank, shard in enumerate(shards):
                whole[np.ix_(*held_indices(self.mesh, port, rank))] = np.asarray(shard)
            found |= taken_apart(self.buffers.get(port["name"], port), whole)
        return found
