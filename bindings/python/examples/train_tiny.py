"""Trains the preset `tiny` on the bytes of a text, on all devices that JAX has, or on 8 virtual ones of a CPU.

    python train_tiny.py book.txt                      # 300 updates; checkpoints and metrics in ./run
    python train_tiny.py book.txt                      # again: goes on where it stopped, also after Ctrl-C
    python train_tiny.py book.txt --tensor 4           # goes on with another layout over the devices
    python train_tiny.py book.txt --out other --steps 20
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils

SEQUENCES = 8  # of an update, over all devices


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", type=Path, help="the file whose bytes are learned")
    parser.add_argument("--out", type=Path, default=Path("run"), help="folder of checkpoints and metrics (default: run)")
    parser.add_argument("--steps", type=int, default=300, help="updates in all (default: 300)")
    parser.add_argument("--save-every", type=int, default=50, help="updates between checkpoints (default: 50)")
    parser.add_argument("--tensor", type=int, default=2, help="ranks that share each layer; the others share the batch")
    parser.add_argument("--layers", type=int, default=2, help="layers of the model (default: 2)")


def refuse(parser: argparse.ArgumentParser, args: Any) -> None:
    """Says what is wrong with the arguments before anything starts."""
    if not args.text.is_file():
        parser.error(f"{args.text} is not a file")
    if args.text.stat().st_size < 1000:
        parser.error(f"{args.text} has {args.text.stat().st_size} bytes, too few to learn from")
    if args.tensor not in (1, 2, 4, 8):
        parser.error(f"--tensor {args.tensor}: expected 1, 2, 4 or 8")


def compiled(tensor: int, layers: int) -> halite.Bundle:
    """The step for the devices there are: the batch over `data`, each layer over `tensor`."""
    data = len(jax.devices()) // tensor
    layout = {"data": data, "tensor": tensor}
    return halite.compile("tiny", layers=layers, batch=SEQUENCES // data, parallel=layout)


def batches(text: Path, shape: tuple[int, ...], first: int) -> Iterator[np.ndarray]:
    """For each update, by its number, windows of the text: any iterator of arrays will do."""
    (sequences, length), corpus = shape, np.frombuffer(text.read_bytes(), np.uint8)
    for update in range(first, sys.maxsize):
        starts = np.random.default_rng(update).integers(0, len(corpus) - length, sequences)
        yield np.stack([corpus[start : start + length] for start in starts]).astype(np.int32)


def train(bundle: halite.Bundle, args: Any) -> None:
    """Trains from the last checkpoint in the folder, or from the start."""
    step = halite.jax.train_step(bundle)
    update = step.jit()
    options = ocp.CheckpointManagerOptions(save_interval_steps=args.save_every, max_to_keep=2)
    with ocp.CheckpointManager(args.out.resolve() / "checkpoints", options=options) as manager:
        done = manager.latest_step() or 0
        if done:
            # The tensors of the model are the same on every layout.
            target = ocp.args.StandardRestore(step.abstract_tensors())
            state = step.put_state(manager.restore(done, args=target))
        else:
            state = step.init()
        stopped = stop_on_interrupt()
        with open(args.out / "metrics.jsonl", "a") as log:
            for batch in batches(args.text, step.abstract_batch()["tokens"].shape, done):
                if done >= args.steps or anyone(stopped):
                    break
                start = time.perf_counter()
                state, metrics = jax.block_until_ready(update(state, step.put_batch(batch)))
                done += 1
                report(log, done, metrics, time.perf_counter() - start)
                if manager.should_save(done):
                    manager.save(done, args=ocp.args.StandardSave(step.tensors(state)))
        if done != manager.latest_step():
            manager.save(done, args=ocp.args.StandardSave(step.tensors(state)), force=True)
        manager.wait_until_finished()
    if jax.process_index() == 0:
        print(f"update {done:5}  saved in {args.out / 'checkpoints'}")


def stop_on_interrupt() -> list[bool]:
    """A list that is no longer empty when Ctrl-C was pressed; pressed again, it ends the program at once."""
    stopped: list[bool] = []

    def stop(*_: Any) -> None:
        stopped.append(True)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    signal.signal(signal.SIGINT, stop)
    return stopped


def anyone(stopped: list[bool]) -> bool:
    """Whether a process is to stop: all stop after the same update, since none can go on without the others."""
    if jax.process_count() == 1:
        return bool(stopped)
    return bool(multihost_utils.process_allgather(np.array(bool(stopped))).any())


def report(log: Any, update: int, metrics: Any, seconds: float) -> None:
    """A line of JSON of every update, a line for people of every tenth; by one process of all."""
    values = {name: float(value) for name, value in metrics.items()}
    if jax.process_index() == 0:
        print(json.dumps({"update": update, **values, "seconds": seconds}), file=log, flush=True)
        if update == 1 or update % 10 == 0:
            print(f"update {update:5}  loss {values['loss']:.4f}  {seconds * 1000:.0f} ms", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    jax.config.update("jax_num_cpu_devices", 8)  # of accelerators, those that there are
    args = parser.parse_args()
    refuse(parser, args)
    train(compiled(args.tensor, args.layers), args)
