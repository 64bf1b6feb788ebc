"""Runs several training steps, given as HLO bytes, side by side on the XLA that JAX_PLATFORMS names.

    python execute.py '{"runs": 30, "vocab": 256, "steps": {"name": "PATH.hlo.pb", ...}}'

All go the same way: HloModuleProto, StableHLO, compile, execute with donated state. Prints one JSON object on stdout:
for each name its memory statistics, compile seconds and seconds per step of every run. Runs are interleaved. With 0 runs
the steps are compiled only, and no state is made.
"""

import json
import sys
import time
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
from jaxlib import _jax
from jaxlib import xla_client

from hlo import Module

# With XNNPACK the plugin goes on with the weights of the first step once they are donated; Halite switches it off too.
NO_XNNPACK = {"xla_cpu_use_xnnpack": False}
SAMPLE_SECONDS = 0.1  # a run repeats the step until it takes about this long


class Step:
    """A compiled step and, once warmed up, its state: ready to be run again and again."""

    def __init__(self, data):
        self.module = Module(data)
        device = jax.devices()[0]
        options = xla_client.CompileOptions()
        options.env_option_overrides = list(NO_XNNPACK.items())
        start = time.perf_counter()
        self.executable = device.client.compile_and_load(
            _jax.mlir.hlo_to_stablehlo(data), _jax.DeviceList((device,)), options
        )
        self.compile_seconds = time.perf_counter() - start
        self.arguments = None
        self.per_run = 1

    @staticmethod
    def _argument(rng, vocab, dtype, shape):
        """Valid for any role: floats in [0, 0.02) serve as weights and as both moments, integers as tokens and counts."""
        if dtype == "bool" or not shape:
            return jax.device_put(np.zeros(shape, dtype))
        if "int" in dtype:
            return jax.device_put(rng.integers(0, vocab, shape).astype(dtype))
        values = 0.02 * rng.random(shape, np.float32)
        return jax.device_put(values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype))

    def memory(self):
        stats = self.executable.get_compiled_memory_stats()
        return {
            "temp_bytes": stats.temp_size_in_bytes,
            "argument_bytes": stats.argument_size_in_bytes,
            "alias_bytes": stats.alias_size_in_bytes,
        }

    def once(self):
        """One step: its aliased outputs become the arguments of the next one."""
        results = self.executable.execute_sharded(self.arguments).disassemble_into_single_device_arrays()
        outputs = [shards[0] for shards in results]
        for output, parameter in self.module.aliases.items():
            self.arguments[parameter] = outputs[output]
        jax.block_until_ready(outputs)
        return outputs

    def run(self):
        """Seconds per step, as the mean over one run."""
        start = time.perf_counter()
        for _ in range(self.per_run):
            self.once()
        return (time.perf_counter() - start) / self.per_run

    def warm_up(self, vocab):
        """Makes the state, runs twice, requires finite results and settles how many steps make one run."""
        rng = np.random.default_rng(0)
        self.arguments = [self._argument(rng, vocab, *parameter) for parameter in self.module.parameters]
        self.once()
        seconds = self.run()
        for output in self.once():
            if not np.all(np.isfinite(np.asarray(output).astype(np.float64))):
                raise SystemExit("a step gave a value that is not finite: its time would mean nothing")
        self.per_run = max(1, round(SAMPLE_SECONDS / seconds))


def main():
    request = json.loads(sys.argv[1])
    steps = {name: Step(Path(path).read_bytes()) for name, path in request["steps"].items()}
    if not request["runs"]:
        found = {name: step.memory() | {"xla_compile_seconds": step.compile_seconds} for name, step in steps.items()}
        print(json.dumps(found))
        return
    for step in steps.values():
        step.warm_up(request["vocab"])
    seconds = {name: [] for name in steps}
    names = list(steps)
    for run in range(request["runs"]):
        turn = run % len(names)
        for name in names[turn:] + names[:turn]:
            seconds[name].append(steps[name].run())
    print(json.dumps({
        name: step.memory() | {"xla_compile_seconds": step.compile_seconds, "step_seconds": seconds[name]}
        for name, step in steps.items()
    }))


if __name__ == "__main__":
    main()
