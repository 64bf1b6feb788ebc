"""Tensors: NumPy arrays, with `ml_dtypes.bfloat16` for `bf16`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import ml_dtypes
import numpy as np

from .errors import wrong

__all__ = ["Tensors", "dtype_of"]

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


def dtype_of(name: str) -> np.dtype:
    """The element type of NumPy that a manifest calls by this name."""
    return np.dtype(_TYPES[name])


def to_native(tensors: Mapping[str, np.ndarray]) -> list[tuple[str, Native]]:
    """Tensors as the native module takes them."""
    return [(name, _native(name, np.asarray(array))) for name, array in tensors.items()]


def _native(name: str, array: np.ndarray) -> Native:
    if array.dtype not in _NAMES:
        known = ", ".join(str(dtype) for dtype in _NAMES)
        raise wrong(f"the array `{name}` is of `{array.dtype}`, which HLO does not have", help=f"use one of {known}")
    return _NAMES[array.dtype], array.shape, array.tobytes()


def from_native(given: Iterable[tuple[str, Native]]) -> Tensors:
    """Tensors as the native module gives them."""
    return {name: np.frombuffer(data, dtype_of(dtype)).reshape(shape) for name, (dtype, shape, data) in given}
