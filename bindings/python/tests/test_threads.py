"""Compiles in threads: equal bytes, no growth, and Python that runs meanwhile."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import halite


def test_threads_give_the_same_bytes(tiny: halite.Bundle) -> None:
    def compiled(_: int) -> list[bytes]:
        bundle = halite.compile("tiny")
        return [bundle.hlo(module.name) for module in bundle.manifest.modules]

    with ThreadPoolExecutor(4) as pool:
        all = list(pool.map(compiled, range(8)))
    assert all == [[tiny.hlo(module.name) for module in tiny.manifest.modules]] * 8


def test_python_runs_while_something_is_compiled() -> None:
    ended = threading.Event()

    def work() -> None:
        halite.compile("tiny")
        ended.set()

    worker = threading.Thread(target=work)
    worker.start()
    turns = 0
    while not ended.is_set():
        turns += 1
    worker.join()
    assert turns > 1000


def resident() -> int:
    """Bytes of this process that are in memory, without what the allocator keeps for later."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown(compile: Callable[[], halite.Bundle], times: int) -> int:
    """How many bytes the second half of so many compiles in two threads added."""

    def half() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: compile().hlo("train_step"), range(times // 2)))

    half()
    before = resident()
    half()
    return resident() - before


def test_compiles_in_threads_leave_nothing_behind(model: halite.Text) -> None:
    bundle_bytes = sum(len(halite.compile(model).hlo(name)) for name in ("train_step", "forward", "eval"))
    added = grown(lambda: halite.compile(model), 600)
    # What leaked a bundle each time would add 300 of them.
    assert added < 150 * bundle_bytes, f"{added:,} bytes"


@pytest.mark.long
def test_10_000_compiles_in_threads_leave_nothing_behind() -> None:
    added = grown(lambda: halite.compile("tiny"), 10_000)
    print(f"10,000 compiles: the second half added {added / 2**20:.1f} MiB to {resident() / 2**20:.1f} MiB")
    assert added < 8 << 20
