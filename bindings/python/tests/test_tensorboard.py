"""The event files of a run, read by TensorBoard itself. The tests of `halite-train` hold their framing to a reader of their own."""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import halite

Curves = dict[str, list[tuple[int, float]]]

RUN = """
import os, sys
import halite, test_tensorboard
class End(halite.Callbacks):
    def on_update(self, update):
        if update.step == 17: os._exit(9)
test_tensorboard.run(callbacks=End())
"""


def run(**given: Any) -> halite.History:
    """One of 20 updates with checkpoints after 10, and evaluations after every 5."""
    rows = np.random.default_rng(0).integers(0, 256, (20, 8, 65), np.int32)
    options: dict[str, Any] = {"steps": 20, "eval_every": 5, "checkpoint_every": 10, "output": "run"}
    options["metrics"] = {"tensorboard": True}
    return halite.train("tiny", Rows(rows), held_out={"a": rows[:1], "b": rows[1:2]}, **options, **given)


class Rows:
    def __init__(self, rows: np.ndarray) -> None:
        self._rows, self._at = rows, 0

    def __iter__(self) -> Any:
        while True:
            self._at += 1
            yield self._rows[self._at % len(self._rows)]

    def state_dict(self) -> int:
        return self._at

    def load_state_dict(self, at: int) -> None:
        self._at = at


def single(number: float | None) -> float:
    """A number as the files hold it: in 32 bits."""
    return math.nan if number is None else float(struct.unpack("f", struct.pack("f", number))[0])


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def measured() -> Curves:
    """What the run says elsewhere that it measured: points by the names of their curves."""
    curves: Curves = {}
    for record in lines("run/metrics.jsonl"):
        step = record.pop("step")
        if "held_out_loss" in record:
            curves.setdefault(f"eval/{record['data']}/held_out_loss", []).append((step, single(record["held_out_loss"])))
            continue
        for name, number in record.items():
            curves.setdefault(f"train/{name}", []).append((step, single(number)))
    for record in lines("run/timing.jsonl"):
        rate = record["tokens"] / (record["data_seconds"] + record["step_seconds"])
        curves.setdefault("time/tokens_per_second", []).append((record["step"], single(rate)))
        for part in ("data", "step", "evaluation", "writing"):
            curves.setdefault(f"time/{part}_seconds", []).append((record["step"], single(record[f"{part}_seconds"])))
    return curves


def read() -> Curves:
    accumulator = EventAccumulator("run/tensorboard", size_guidance={"scalars": 0})
    accumulator.Reload()
    curves: Curves = {}
    for name in accumulator.Tags()["scalars"]:
        events = accumulator.Scalars(name)
        assert all(event.wall_time > 1.6e9 for event in events), name
        curves[name] = [(event.step, event.value) for event in events]
    return curves


def test_it_reads_what_was_measured_also_of_a_run_that_was_killed() -> None:
    """What was measured beyond the last checkpoint is gone when the run goes on from it, and measured again."""


    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", RUN], env=environment, check=False)
    assert ended.returncode == 9
    assert max(step for step, _ in read()["train/loss"]) == 15, "all up to the last evaluation"
    history = run()
    found = read()
    assert found == measured()
    assert [step for step, _ in found["train/loss"]] == list(range(1, 21))
    assert found["train/loss"] == [(each.step, each.loss) for each in history.updates]
    assert [step for step, _ in found["eval/b/held_out_loss"]] == [0, 5, 10, 15, 20]
