"""Modules of random programs, and whether they are right: found by running them on all devices and beside one."""

import math
import os
import shutil
import tempfile
from pathlib import Path

DUMPS = tempfile.TemporaryDirectory()
os.environ["XLA_FLAGS"] = (
    "--xla_force_host_platform_device_count=8 --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=spmd-partitioning "
    f"--xla_dump_to={DUMPS.name} --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_include_full_tracebacks_in_locations", False)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

import spmd_hlo
from spmd_layers import LAYERS
from spmd_module import Module
from spmd_patterns import PATTERNS
from spmd_programs import axes_of, pick
from spmd_ranks import FAULTS, Alone, Ranks

FAMILIES = LAYERS + PATTERNS
#: On how many inputs a program is run.
RUNS = 2
#: How far from one device a result may be, relative to its largest number; and from where on it is another.
SAME, OTHER = 1e-4, 1e-3
#: How many faults of a program are tried until one changes a result.
TRIES = 8


class Made:
    """A random program, its inputs, and what one device computes of them."""

    def __init__(self, seed, salt):
        rng = np.random.default_rng([salt, seed])
        self.rng, self.seed = rng, seed
        self.program = FAMILIES[rng.integers(len(FAMILIES))](rng)
        devices = np.array(jax.devices())
        devices = rng.permutation(devices) if rng.random() < 0.15 else devices
        sizes = tuple(self.program.mesh.values())
        self.mesh = Mesh(devices.reshape(sizes), tuple(self.program.mesh), axis_types=(AxisType.Auto,) * len(sizes))
        self.inputs = [[own.sample(rng) for own in self.program.inputs] for _ in range(RUNS)]
        self.whole = jax.jit(lambda *arrays: self.program.body(Alone(), *arrays))
        self.expected = [[np.asarray(result) for result in self.whole(*inputs)] for inputs in self.inputs]
        self.specs = [own.spec for own in self.program.inputs]
        self.results = list(self.program.results)

    def named(self, specs):
        return tuple(NamedSharding(self.mesh, own) for own in specs)

    def local(self, fault=None, results=None):
        """The program with its messages written out."""
        body = lambda *arrays: self.program.body(Ranks(self.program.mesh, fault), *arrays)
        results = tuple(results or self.results)
        mapped = jax.shard_map(body, mesh=self.mesh, in_specs=tuple(self.specs), out_specs=results, check_vma=False)
        return jax.jit(mapped, in_shardings=self.named(self.specs), out_shardings=self.named(results), keep_unused=True)

    def automatic(self):
        """The program of one device, which XLA partitions; sometimes not as its author would."""
        if self.rng.random() < 0.3:
            self.specs = [self._any(own.shape) for own in self.program.inputs]
        if self.rng.random() < 0.3:
            self.results = [self._any(result.shape) for result in self.expected[0]]
        body = lambda *arrays: self.program.body(Alone(), *arrays)
        return jax.jit(body, in_shardings=self.named(self.specs), out_shardings=self.named(self.results), keep_unused=True)

    def _any(self, shape):
        """Some sharding of a shape."""
        free, spec = list(self.rng.permutation(list(self.program.mesh))), []
        for size in shape:
            own = tuple(map(str, free[: pick(self.rng, 0, 0, 1, 1, 2)]))
            own = own if size % math.prod(self.program.mesh[axis] for axis in own) == 0 else ()
            free = free[len(own) :]
            spec.append(own or None)
        return PartitionSpec(*spec)

    def compiled(self, function):
        """The executable, and what XLA dumps right after partitioning."""
        lowered = function.lower(*self.inputs[0])
        for left in Path(DUMPS.name).iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        executable = lowered.compile()
        (dump,) = Path(DUMPS.name).glob("*after_spmd-partitioning*.hlo.pb")
        return executable, dump.read_bytes()

    def truth(self, executable):
        """Whether devices hold what one device computes, and how it shows where they do not."""
        runs = []
        for inputs in self.inputs:
            placed = [jax.device_put(value, own) for value, own in zip(inputs, self.named(self.specs))]
            results = executable(*placed)
            runs.append([self._by_rank(result) for result in results])
        return self._judged(runs)

    def _by_rank(self, result):
        shards = {shard.device: np.asarray(shard.data) for shard in result.addressable_shards}
        return [shards[device] for device in self.mesh.devices.flat]

    def truth_of_text(self, text):
        """The same of a text, whose ranks are run as replicas."""
        runs = []
        for inputs in self.inputs:
            held = [self._parts(value, own) for value, own in zip(inputs, self.specs)]
            runs.append(spmd_hlo.run(text, held))
        return self._judged(runs)

    def _parts(self, value, spec):
        indices = NamedSharding(self.mesh, spec).devices_indices_map(value.shape)
        return [np.array(value[indices[device]], order="C") for device in self.mesh.devices.flat]

    def _judged(self, runs):
        worst, shows = 0.0, "other values"
        for expected, results in zip(self.expected, runs):
            for whole, spec, shards in zip(expected, self.results, results):
                if not np.isfinite(whole.astype(np.float64)).all():
                    return "unclear", ""
                scale = float(np.max(np.abs(whole))) + 1e-6
                parts = self._parts(whole, spec)
                away = max(_apart(shard, part) for shard, part in zip(shards, parts)) / scale
                worst = max(worst, away)
                alike = all(_apart(a, b) / scale < OTHER for a, b in self._copies(parts, shards))
                shows = shows if alike else "ranks disagree"
        truth = "right" if worst <= SAME else "wrong" if worst > OTHER else "unclear"
        return truth, shows if truth == "wrong" else ""

    @staticmethod
    def _copies(parts, shards):
        """Pairs of shards that are to be the same, judged by what they are to be."""
        for at in range(len(parts)):
            for other in range(at):
                if np.array_equal(parts[at], parts[other]):
                    yield shards[at], shards[other]
                    break


def _apart(found, expected):
    if found.shape != expected.shape:
        return float("inf")
    away = np.max(np.abs(found.astype(np.float64) - expected.astype(np.float64)), initial=0.0)
    return float(away) if np.isfinite(away) else float("inf")


def right(seed):
    """A module that is to be right."""
    made = Made(seed, 0)
    automatic = made.rng.random() < 0.4
    executable, data = made.compiled(made.automatic() if automatic else made.local())
    truth, shows = made.truth(executable)
    name = f"{made.program.name}; {'partitioned by XLA' if automatic else 'by hand'}"
    return Module(name, seed, made.program.mesh, data, truth, shows=shows)


def seeded(seed):
    """A module with one fault that changes a result; `None` where none that was tried does."""
    made = Made(seed, 1)
    way = made.rng.random()
    if way < 0.35:
        return _edited(made, made.rng.random() < 0.7)
    if way < 0.42 and (declared := _declared(made)):
        return declared
    return _by_source(made)


def _module(made, data, truth, fault, way):
    return Module(f"{made.program.name}; {way}", made.seed, made.program.mesh, data, truth[0], fault, truth[1])


def _by_source(made):
    ranks = Ranks(made.program.mesh)
    mapped = jax.shard_map(
        lambda *arrays: made.program.body(ranks, *arrays),
        mesh=made.mesh, in_specs=tuple(made.specs), out_specs=tuple(made.results), check_vma=False,
    )  # fmt: skip
    jax.eval_shape(mapped, *made.inputs[0])
    faults = [(at, kind) for at, site in enumerate(ranks.sites) for kind in FAULTS[site]]
    for at in made.rng.permutation(len(faults))[:TRIES]:
        fault = faults[at]
        executable, data = made.compiled(made.local(fault))
        truth = made.truth(executable)
        if truth[0] == "wrong":
            return _module(made, data, truth, f"{ranks.sites[fault[0]]}: {fault[1]}", "by hand")
    return None


def _declared(made):
    """A result of which each rank has a shard, said to be the same on all."""
    sharded = [at for at, own in enumerate(made.results) if axes_of(own)]
    if not sharded:
        return None
    at = sharded[made.rng.integers(len(sharded))]
    results = [PartitionSpec() if own == at else spec for own, spec in enumerate(made.results)]
    executable, data = made.compiled(made.local(results=results))
    for inputs in made.inputs:
        placed = [jax.device_put(value, own) for value, own in zip(inputs, made.named(made.specs))]
        shards = made._by_rank(executable(*placed)[at])
        scale = max(float(np.max(np.abs(shard))) for shard in shards) + 1e-6
        if max(_apart(shard, shards[0]) for shard in shards) / scale > OTHER:
            return _module(made, data, ("wrong", "ranks disagree"), "result declared the same on all", "by hand")
    return None


def _edited(made, automatic):
    """A module whose HLO is changed in one place."""
    _, dump = made.compiled(made.automatic() if automatic else made.local())
    module = spmd_hlo.module_of(dump)
    text = spmd_hlo.text_of(module)
    if made.truth_of_text(text)[0] != "right":
        raise ValueError(f"{made.program.name} is not right as replicas")
    found = spmd_hlo.edits(text)
    kinds = {}
    for name, text in found:
        kinds.setdefault(name, []).append(text)
    for _ in range(TRIES if kinds else 0):
        name = list(kinds)[made.rng.integers(len(kinds))]
        text = kinds[name][made.rng.integers(len(kinds[name]))]
        truth = made.truth_of_text(text)
        if truth[0] == "wrong":
            way = "partitioned by XLA" if automatic else "by hand"
            return _module(made, spmd_hlo.module_from(text, module), truth, f"HLO: {name}", way)
    return None
