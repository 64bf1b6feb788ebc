"""Where data are, as JSON: numbers, texts, lists and mappings, and the arrays, tensors and bytes that states of random numbers are."""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from typing import Any

import numpy as np

__all__ = ["from_json", "to_json"]

# An object of JSON with such a key alone stands for something that JSON has no form for.
_BYTES, _ARRAY, _TENSOR = "halite.bytes", "halite.array", "halite.tensor"


def to_json(place: Any) -> str:
    """Raises `TypeError` or `ValueError` where there is no form.

    >>> to_json({"at": 3, "seed": np.arange(2, dtype=np.uint8)})
    '{"at": 3, "seed": {"halite.array": ["|u1", [2], "AAE="]}}'
    """
    return json.dumps(place, default=_named)


def from_json(text: str) -> Any:
    """What `to_json` was given, but for tuples, which are lists.

    >>> from_json(to_json({"seed": np.arange(2, dtype=np.uint8)}))
    {'seed': array([0, 1], dtype=uint8)}
    """
    return json.loads(text, object_hook=_known)


def _named(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {_ARRAY: [value.dtype.str, list(value.shape), b64encode(value.tobytes()).decode()]}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return {_TENSOR: value.cpu().numpy()}
    raise TypeError(f"a `{type(value).__name__}` has none")


def _known(value: dict[str, Any]) -> Any:
    if value.keys() == {_BYTES}:
        return b64decode(value[_BYTES])
    if value.keys() == {_ARRAY}:
        dtype, shape, data = value[_ARRAY]
        return np.frombuffer(b64decode(data), np.dtype(dtype)).reshape(shape).copy()
    if value.keys() == {_TENSOR}:
        import torch  # type: ignore[import-not-found]

        return torch.from_numpy(value[_TENSOR])
    return value
