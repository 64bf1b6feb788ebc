"""Models of several families, small, and batches for them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import halite
import numpy as np

OPTIMIZER = {"adamw": {"lr": 1e-3, "weight_decay": 0.1, "clip_norm": 1.0}}
LLAMA = {"vocab": 256, "hidden": 64, "layers": 2, "heads": 4, "kv_heads": 2, "ffn": 176}
GPT2 = {"vocab": 259, "hidden": 64, "layers": 2, "heads": 4}
FAMILIES: dict[str, dict[str, Any]] = {"llama": LLAMA, "gpt2": GPT2, "qwen2": {**LLAMA, "vocab": 259}}
MID = {"vocab": 2048, "hidden": 256, "layers": 4, "heads": 8, "kv_heads": 4, "ffn": 704, "batch": 2, "seq": 256}
"""The one of the benches that is small enough to train, and too large for tests that run each time."""


def compiled(family: str, **overrides: Any) -> halite.Bundle:
    """A bundle of a small model of a family, for 8 sequences of 32 tokens in an update; the same one whenever the same is asked for."""
    return _compiled(family, json.dumps(overrides))


@cache
def _compiled(family: str, overrides: str) -> halite.Bundle:
    recipe = {"batch": 8, "seq": 32, "roles": ["train_step"], **FAMILIES[family], **json.loads(overrides)}
    return halite.compile(family, optimizer=OPTIMIZER, **recipe)


def batches(bundle: halite.Bundle, count: int) -> list[dict[str, np.ndarray]]:
    """Batches of as many sequences as one device takes in an update, the same for each bundle of a vocabulary and a length."""
    random = np.random.default_rng(7)
    config = bundle.manifest.model.config
    rows, columns = MID["batch"] if config["hidden"] == MID["hidden"] else 8, config["seq"] + 1
    return [{"tokens": random.integers(0, config["vocab"], (rows, columns)).astype(np.int32)} for _ in range(count)]


def runtime(bundle: halite.Bundle) -> halite.runtime.TrainStep:
    """The same step in Halite's own runtime, with the state of a seed; there is one for each bundle."""
    step = _loaded(bundle)
    step.init(3)
    return step


@cache
def _loaded(bundle: halite.Bundle) -> halite.runtime.TrainStep:
    return halite.runtime.TrainStep(bundle)


def wholes(bundle: halite.Bundle, state: dict[str, Any]) -> halite.Tensors:
    """The tensors of the model in a state of JAX."""
    shapes = {buffer.name: buffer.shape for buffer in bundle.manifest.buffers}
    return bundle.unpack({name: np.asarray(array).reshape(shapes[name]) for name, array in state.items()})


def distance(some: halite.Tensors, others: halite.Tensors) -> float:
    """The largest difference of an element."""
    assert some.keys() == others.keys()
    return max(float(np.abs(some[name].astype(np.float64) - others[name].astype(np.float64)).max()) for name in some)
