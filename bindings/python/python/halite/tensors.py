"""Tensors: NumPy arrays, with `ml_dtypes.bfloat16` for `bf16`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike

from . import _native as _native_module
from ._values import whole
from .errors import wrong

__all__ = ["Tensors", "dtype_of", "load_tensors", "save_tensors"]

Tensors = dict[str, np.ndarray]

_TYPES = {
    "pred": np.bool_,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "s8": np.int8,
    "s16": np.int16,
    "s32": np.int32,
    "s64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
}

_NAMES = {np.dtype(dtype): name for name, dtype in _TYPES.items()}

Native = tuple[str, tuple[int, ...], bytes]
"""Element type, shape and elements of a tensor for the native module."""

Given = tuple[str, Sequence[int], bytearray]
"""The same from the native module, in memory that nothing else has."""


def dtype_of(name: str) -> np.dtype[Any]:
    """The element type of NumPy that a manifest calls by this name."""
    dtype: np.dtype[Any] = np.dtype(_TYPES[name])
    return dtype


def to_native(tensors: Mapping[str, ArrayLike]) -> list[tuple[str, Native]]:
    """Tensors as the native module takes them."""
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors are a mapping from names to arrays, not a `{type(tensors).__name__}`")
    return [(name, _native(name, np.asarray(array))) for name, array in tensors.items()]


def _native(name: str, array: np.ndarray) -> Native:
    if not isinstance(name, str):
        raise TypeError(f"the name of a tensor is a text, not {name!r}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype not in _NAMES:
        known = ", ".join(str(dtype) for dtype in _NAMES)
        raise wrong(f"the array `{name}` is of `{array.dtype}`, which HLO does not have", help=f"use one of {known}")
    return _NAMES[array.dtype], array.shape, array.tobytes()


def from_native(given: Iterable[tuple[str, Given]]) -> Tensors:
    """Tensors as the native module gives them."""
    return {name: np.ndarray(shape, dtype_of(dtype), data) for name, (dtype, shape, data) in given}


def load_tensors(path: str | os.PathLike[str]) -> Tensors:
    """The tensors in a safetensors file, by name, as arrays that can be written to.

    `path` may also be the index of a checkpoint in shards, a folder that holds `model.safetensors` or its index, or the index of a
    state whose ranks saved their parts. Arrays have the shapes of the model, whatever the layout was.
    """
    return from_native(_native_module.load_tensors(os.fspath(path)))


def save_tensors(
    path: str | os.PathLike[str], tensors: Mapping[str, ArrayLike], *, shard_bytes: int | None = None
) -> Path:
    """Writes tensors to a safetensors file, whole or not at all, and gives the path of what is to be read.

    Where they have more than `shard_bytes` bytes, they are written to several files of at most so many and an index beside them, as
    Transformers lays them out. A checkpoint of that name makes way for the new one in one step. Equal tensors give equal bytes.

    >>> import halite, numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = halite.save_tensors(f"{folder}/a.safetensors", {"w": np.ones((2, 3), np.float32)})
    ...     halite.load_tensors(path)["w"].sum()
    np.float32(6.0)
    """
    if shard_bytes is not None:
        shard_bytes = whole("shard_bytes", shard_bytes, least=1)
    return Path(_native_module.save_tensors(os.fspath(path), to_native(tensors), shard_bytes))
