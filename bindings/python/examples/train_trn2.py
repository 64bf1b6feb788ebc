"""Trains as `train_tiny.py` does, on the NeuronCores of trn2 instances. This was never run on one: nobody here has such a machine.

    halite compile hlat-7b --set target=trn2 --set parallel.data=8 --set parallel.global_batch=8 -o step
    halite env step --profile jax --script > launch.sh
    bash launch.sh python train_trn2.py step book.txt
    bash launch.sh --nodes 2 --node-rank 0 --root HOST:PORT -- python train_trn2.py step book.txt --nodes 2

The script sets what the manifest says, with the flags of the compiler in NEURON_CC_FLAGS, and this program compares it. Neuron's plugin
for JAX compiles the program that JAX hands it, once more even if `halite neuron compile` compiled the same step before: it has a
store of its own, and that of Halite has no part in it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import halite
import halite.jax
import jax
import train_tiny


def main() -> None:
    """Trains on the devices of this node, with those of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path, help="the bundle, as `halite compile` writes it")
    parser.add_argument("text", type=Path, help="the file whose bytes are learned; the same on all nodes")
    parser.add_argument("--nodes", type=int, default=1, help="nodes that take part (default: 1)")
    parser.add_argument("--out", type=Path, default=Path("run"), help="folder of checkpoints, which all nodes see (default: run)")
    parser.add_argument("--steps", type=int, default=300, help="updates in all (default: 300)")
    parser.add_argument("--save-every", type=int, default=50, help="updates between checkpoints (default: 50)")
    args = parser.parse_args()
    bundle = halite.Bundle.read(args.bundle)
    halite.jax.check_environment(bundle)
    if args.nodes > 1:
        # The address of the coordinator is in JAX_COORDINATOR_ADDRESS.
        node = int(os.environ["NEURON_PJRT_PROCESS_INDEX"])
        jax.distributed.initialize(num_processes=args.nodes, process_id=node)
    train_tiny.train(bundle, args)


if __name__ == "__main__":
    main()
