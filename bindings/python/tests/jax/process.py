"""One of the processes of `test_processes.py`: COORDINATOR FOLDER PROCESS PROCESSES UPDATES WAIT_AT."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import numpy as np
import orbax.checkpoint as ocp

DEVICES = 8
SAVE_EVERY = 3


def main(coordinator: str, folder: Path, process: int, processes: int, updates: int, wait_at: int) -> None:
    """Trains from the last checkpoint on; having made update `wait_at`, it says so and waits to be killed."""
    jax.config.update("jax_num_cpu_devices", DEVICES // processes)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(coordinator, processes, process, initialization_timeout=300)
    assert (len(jax.devices()), len(jax.local_devices())) == (DEVICES, DEVICES // processes)
    sizes: dict[str, Any] = {"layers": 1, "hidden": 32, "ffn": 48, "batch": 2, "seq": 16}
    bundle = halite.compile("tiny", roles=["train_step"], parallel={"data": 4, "tensor": 2}, **sizes)
    step = halite.jax.train_step(bundle)
    update = step.jit()
    with ocp.CheckpointManager(folder / "checkpoints") as manager, open(folder / f"losses.{process}", "a") as log:
        done = manager.latest_step() or 0
        if done:
            tensors = manager.restore(done, args=ocp.args.StandardRestore(step.abstract_tensors()))
            state = step.put_state(tensors)
        else:
            state = step.init(3)
        for number in range(done, updates):
            tokens = np.random.default_rng(number).integers(0, 256, (8, 17)).astype(np.int32)
            state, metrics = update(state, step.put_batch(tokens))
            print(json.dumps(float(metrics["loss"])), file=log, flush=True)
            if number + 1 == wait_at:
                (folder / f"waits.{process}").touch()
                time.sleep(3600)
            if (number + 1) % SAVE_EVERY == 0:
                manager.save(number + 1, args=ocp.args.StandardSave(step.tensors(state)))
                manager.wait_until_finished()
    jax.distributed.shutdown()


if __name__ == "__main__":
    coordinator, folder, *numbers = sys.argv[1:]
    main(coordinator, Path(folder), *(int(number) for number in numbers))
