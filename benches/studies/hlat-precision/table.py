#!/usr/bin/env python3
"""Prints the table and the per-seed figures of the study from the data that run.sh leaves.

usage: table.py runs/hlat-precision/numerics.json
"""

import json
import math
import sys
from statistics import mean, median

report = json.load(open(sys.argv[1]))["report"]
recipes = {recipe["name"]: recipe for recipe in report["recipes"]}
truth = recipes["fp64"]


def held_out(recipe):
    return [run["evals"][-1]["held_out_loss"] for run in recipe["runs"]]


def deviation(recipe):
    """Of each seed: root mean square of training loss less that of fp64, over the second half."""
    return [
        math.sqrt(mean((a["loss"] - b["loss"]) ** 2 for a, b in list(zip(run["steps"], other["steps"]))[report["steps"] // 2 :]))
        for run, other in zip(recipe["runs"], truth["runs"])
    ]


def norm(recipe):
    """Of each seed: mean gradient norm of the last 60 updates."""
    return [mean(step["grad_norm"] for step in run["steps"][-60:]) for run in recipe["runs"]]


def each(values, digits):
    return ", ".join(f"{value:.{digits}f}" for value in values)


print("| recipe | seed 10 | seed 11 | seed 12 | median | against `fp64` | deviation, by seed | mean gradient norm, last 60 updates, by seed |")
print("|---|---|---|---|---|---|---|---|")
for name in ["fp64", *(name for name in recipes if name != "fp64")]:
    losses = held_out(recipes[name])
    against = (median(losses) / median(held_out(truth)) - 1) * 100
    columns = [f"`{name}`", *(f"{loss:.4f}" for loss in losses), f"{median(losses):.4f}", f"{against:+.2f}%"]
    columns += [each(deviation(recipes[name]), 4), each(norm(recipes[name]), 2)]
    print("| " + " | ".join(columns) + " |")
