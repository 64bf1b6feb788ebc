"""Several processes train as one does, and go on from Orbax after one of them was killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("orbax.checkpoint")

HERE = Path(__file__).parent
UPDATES, SAVED = 6, 3
# How long anything may take: several times what it takes on a busy machine.
LIMIT = 300


@contextmanager
def started(processes: int, folder: Path, updates: int, *, wait_at: int = 0) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that train together; none of them outlives the block."""
    # It stays bound, so that nobody else is given the port: the coordinator binds it too, as one may where both say so.
    port = socket.socket()
    port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    port.bind(("127.0.0.1", 0))
    coordinator = f"127.0.0.1:{port.getsockname()[1]}"
    folder.mkdir(exist_ok=True)
    flags = " ".join(flag for flag in os.environ["XLA_FLAGS"].split() if "device_count" not in flag)
    environment = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    children: list[subprocess.Popen[bytes]] = []
    try:
        for process in range(processes):
            numbers = [str(number) for number in (process, processes, updates, wait_at)]
            command = [sys.executable, str(HERE / "process.py"), coordinator, str(folder), *numbers]
            with open(folder / f"output.{process}", "wb") as output:
                children.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output))
        yield children
    finally:
        for child in children:
            child.kill()
            child.wait()
        port.close()


def trained(processes: int, folder: Path, updates: int = UPDATES) -> list[list[float]]:
    """The losses that each process saw."""
    with started(processes, folder, updates) as children:
        deadline = time.monotonic() + LIMIT
        while any(child.poll() is None for child in children):
            assert time.monotonic() < deadline, "the processes hang"
            assert not any(child.poll() for child in children), output(folder)
            time.sleep(0.05)
        assert not any(child.poll() for child in children), output(folder)
    return [losses(folder, process) for process in range(processes)]


def losses(folder: Path, process: int) -> list[float]:
    lines = (folder / f"losses.{process}").read_text().splitlines()
    return [float(json.loads(line)) for line in lines]


def output(folder: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for path in sorted(folder.glob("output.*")))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """The losses of one process, whose devices exchange data as those of several do: in the same order of sums."""
    (found,) = trained(1, tmp_path_factory.mktemp("alone"))
    assert len(found) == UPDATES
    return found


@pytest.mark.long
@pytest.mark.parametrize("processes", [2, 4])
def test_several_processes_train_as_one_does(processes: int, alone: list[float], tmp_path: Path) -> None:
    assert trained(processes, tmp_path) == [alone] * processes


def test_all_go_on_from_orbax_after_one_was_killed(alone: list[float], tmp_path: Path) -> None:
    """Two train as one does, before and after."""
    with started(2, tmp_path, UPDATES, wait_at=SAVED + 1) as children:
        deadline = time.monotonic() + LIMIT
        while not all((tmp_path / f"waits.{process}").exists() for process in range(2)):
            assert time.monotonic() < deadline, "the processes hang"
            assert not any(child.poll() for child in children), output(tmp_path)
            time.sleep(0.05)
        children[1].send_signal(signal.SIGKILL)
        assert children[1].wait(LIMIT) == -signal.SIGKILL
        # The other sits in an exchange that never ends, or was told of the loss by JAX's coordinator: a launcher ends it.
    before = alone[: SAVED + 1]
    assert [losses(tmp_path, process) for process in range(2)] == [before] * 2
    assert trained(2, tmp_path) == [before + alone[SAVED:]] * 2
