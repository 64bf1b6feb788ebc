"""How far long work is, and ending it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import halite
from halite import progress
from interrupts import PYTHON

LARGE: dict[str, Any] = {"layers": 4, "parallel": {"tensor": 8, "data": 4}, "target": "trn1"}


def test_a_function_is_told_of_passes() -> None:
    told: list[halite.Progress] = []
    halite.compile("hlat-7b", progress=told.append, **LARGE)
    assert told and all(type(each) is halite.Progress and each.work == "compiling hlat-7b" for each in told)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert any(each.message.endswith((": cse", ": partition", ": simplify", ": cut", ": dce")) for each in told)


def test_a_function_is_told_of_bytes() -> None:
    told: list[halite.Progress] = []
    bundle = halite.compile("tiny", hidden=1024, ffn=4096, roles=["train_step"])
    state = bundle.init(progress=told.append)
    size = sum(array.nbytes for array in state.values())
    assert told and all(each.done <= size == each.total for each in told)


class Stop(Exception):
    pass


def test_an_exception_of_the_function_ends_the_work() -> None:
    told = []

    def stop(step: halite.Progress) -> None:
        told.append(step)
        raise Stop

    with pytest.raises(Stop):
        halite.compile("hlat-7b", progress=stop, **LARGE)
    assert len(told) == 1


def test_work_that_is_given_up_is_not_done_to_its_end() -> None:
    """Passes look whether they are to end; so a compile that is given up at its first word takes less than half of the work."""

    def seconds(**given: Any) -> float:
        """Of processors, which others on the machine do not change."""
        since = time.process_time()
        try:
            halite.compile("hlat-7b", **{**LARGE, "layers": 32}, **given)
        except Stop:
            pass
        return time.process_time() - since

    def stop(_: halite.Progress) -> None:
        raise Stop

    assert seconds(progress=stop) < 0.5 * seconds(progress=False)


def threads(process: int) -> int:
    """More than one while something is compiled, which has a thread of its own."""
    return len(os.listdir(f"/proc/{process}/task"))


def test_ctrl_c_ends_a_compile_and_verify() -> None:
    for work in ("halite.compile('hlat-7b', **large)", "halite.check('hlat-7b', **large)"):
        program = f"""
import halite
large = {LARGE!r}
try:
    print("ready", flush=True)
    while True: {work}
except KeyboardInterrupt: print("ended")
"""
        with subprocess.Popen([*PYTHON, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            while threads(process.pid) == 1 and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            try:
                out, _ = process.communicate(timeout=60)
            finally:
                process.kill()
        assert (out, process.returncode) == ("ended\n", 0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_appears_only_where_someone_watches_and_has_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(terminal: io.StringIO, given: progress.ProgressLike = None) -> str:
        monkeypatch.setattr(sys, "stderr", terminal)
        halite.compile("hlat-7b", progress=given, **LARGE)
        return terminal.getvalue()

    monkeypatch.setattr(progress, "_PATIENCE", 1000.0)
    assert shown(Terminal()) == ""
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    assert "compiling hlat-7b" in shown(Terminal())
    assert "compiling hlat-7b" in shown(io.StringIO(), True)
    assert shown(io.StringIO()) == shown(Terminal(), False) == ""


def test_work_in_a_process_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    halite.compile("tiny", roles=["forward"])


@pytest.mark.long
def test_ctrl_c_ends_a_compile_within_50_ms() -> None:
    """On a release build: from the signal to the exception, at 40 moments of compiles of 70B on 2,048 ranks."""
    program = """
import halite, time, sys
overrides = dict(target="trn1", parallel={"tensor": 32, "data": 64, "pipeline": 1}, layers=10)
halite.compile("tiny")
print("ready", flush=True)
try:
    while True: halite.compile("hlat-70b", **overrides)
except KeyboardInterrupt: print(time.time(), flush=True)
"""
    waited = []
    for moment in range(40):
        with subprocess.Popen([*PYTHON, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(0.02 + 0.037 * moment)
            since = time.time()
            os.kill(process.pid, signal.SIGINT)
            waited.append(float(process.stdout.readline()) - since)
    print(f"from the signal to KeyboardInterrupt: at most {1000 * max(waited):.1f} ms of {len(waited)}")
    assert max(waited) < 0.05, sorted(waited)[-5:]
