"""Trains as `train_tiny.py` does, in several processes that have a part of the devices each.

    python two_processes.py book.txt                   # 2 processes with 4 virtual devices each
    python two_processes.py book.txt --processes 4     # goes on in 4 with 2 each

Here they run on one machine and this program starts them. On a cluster each machine starts one with the address of the first.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time

import jax
import train_tiny

DEVICES = 8


def run(args: argparse.Namespace) -> None:
    """One of the processes; from here on all do the same, each with its devices."""
    jax.config.update("jax_num_cpu_devices", DEVICES // args.processes)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(args.coordinator, args.processes, args.process)
    train_tiny.train(train_tiny.compiled(args.tensor, args.layers), args)
    jax.distributed.shutdown()


def start(processes: int) -> int:
    """Starts this program once more for each process and waits; when one fails or Ctrl-C is pressed twice, all end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, *sys.argv, "--coordinator", coordinator, "--process"]
    started = [subprocess.Popen([*command, str(process)]) for process in range(processes)]
    train_tiny.stop_on_interrupt()  # the processes get Ctrl-C too, stop together and save
    try:
        while None in (codes := [child.poll() for child in started]) and not any(codes):
            time.sleep(0.1)
    finally:
        for child in started:
            child.terminate()
        for child in started:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    train_tiny.arguments(parser)
    parser.add_argument("--processes", type=int, default=2, help="processes that share the 8 devices (default: 2)")
    parser.add_argument("--process", type=int, help="number of this process: without it, all are started")
    parser.add_argument("--coordinator", help="address and port of process 0")
    args = parser.parse_args()
    train_tiny.refuse(parser, args)
    if args.process is None:
        sys.exit(start(args.processes))
    run(args)
