"""The examples as one starts them: stopped by Ctrl-C, gone on with on another layout and in two processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interrupts import PYTHON

pytest.importorskip("orbax.checkpoint")

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "bindings" / "python" / "examples"
TEXT = ROOT / "tests" / "data" / "pride-and-prejudice.txt"
LIMIT = 300


def started(name: str, folder: Path, *options: str) -> subprocess.Popen[str]:
    flags = " ".join(flag for flag in os.environ["XLA_FLAGS"].split() if "device_count" not in flag)
    environment = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [*PYTHON, str(EXAMPLES / name), str(TEXT), "--out", str(folder), "--layers", "1", *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    try:
        output, _ = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    assert process.returncode == 0, output
    return output


def updates(folder: Path) -> list[int]:
    return [json.loads(line)["update"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def newest(folder: Path) -> int:
    return max(int(path.name) for path in (folder / "checkpoints").iterdir())


def test_examples_go_on_where_they_stopped(tmp_path: Path) -> None:
    endless = started("train_tiny.py", tmp_path, "--steps", "1000000", "--save-every", "1000000")
    deadline = time.monotonic() + LIMIT
    while not ((tmp_path / "metrics.jsonl").exists() and updates(tmp_path)):
        if time.monotonic() > deadline or endless.poll() is not None:
            endless.kill()
            pytest.fail(endless.communicate()[0])
        time.sleep(0.05)
    endless.send_signal(signal.SIGINT)
    assert "update     1  loss 5.5" in ended(endless)
    done = newest(tmp_path)
    assert updates(tmp_path) == list(range(1, done + 1))
    ended(started("train_tiny.py", tmp_path, "--tensor", "4", "--steps", str(done + 2)))
    ended(started("two_processes.py", tmp_path, "--steps", str(done + 4)))
    assert newest(tmp_path) == done + 4
    assert updates(tmp_path) == list(range(1, done + 5))
