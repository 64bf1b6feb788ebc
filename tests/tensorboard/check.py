"""Reads the event files of a run with TensorBoard's own reader, and compares them with `metrics.jsonl` and `timing.jsonl`.

    python check.py RUN

RUN is the folder of a run whose recipe has `metrics.tensorboard = true`. It may have been resumed, also from a state before its last
update: what was measured beyond that state must be gone.
"""

import json
import math
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def single(number):
    """The number as the files hold it: in 32 bits."""
    return math.nan if number is None else struct.unpack("f", struct.pack("f", number))[0]


def expected(run):
    """What the run measured: points by the names of their curves."""
    curves = {}
    for record in lines(run / "metrics.jsonl"):
        step = record.pop("step")
        if "held_out_loss" in record:
            data = f"{record['data']}/" if "data" in record else ""
            curves.setdefault(f"eval/{data}held_out_loss", []).append((step, single(record["held_out_loss"])))
            continue
        for name, number in record.items():
            curves.setdefault(f"train/{name}", []).append((step, single(number)))
    for record in lines(run / "timing.jsonl"):
        rate = record["tokens"] / (record["data_seconds"] + record["step_seconds"])
        curves.setdefault("time/tokens_per_second", []).append((record["step"], single(rate)))
        if "mfu" in record:
            curves.setdefault("time/mfu", []).append((record["step"], single(record["mfu"])))
        for part in ("data", "step", "evaluation", "writing"):
            name = f"{part}_seconds"
            curves.setdefault(f"time/{name}", []).append((record["step"], single(record[name])))
    return curves


def found(run):
    accumulator = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0})
    accumulator.Reload()
    curves = {}
    for name in accumulator.Tags()["scalars"]:
        events = accumulator.Scalars(name)
        assert all(event.wall_time > 1.6e9 for event in events), name
        curves[name] = [(event.step, event.value) for event in events]
    return curves


def main():
    run = pathlib.Path(sys.argv[1])
    want, have = expected(run), found(run)
    assert want.keys() == have.keys(), sorted(want.keys() ^ have.keys())
    for name, points in want.items():
        assert str(points) == str(have[name]), (name, points[-3:], have[name][-3:])
    print(f"{len(want)} curves, {sum(map(len, want.values()))} points: equal")


main()
