"""Element types: the manifest's names as NumPy's."""

from __future__ import annotations

import jax
import ml_dtypes
import numpy as np

from ..errors import wrong

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

_WIDE = ("f64", "s64", "u64")


def dtype_of(name: str) -> np.dtype:
    """The type of this name; one of 64 bits only where JAX has those."""
    if name in _WIDE and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise wrong(
            f"the bundle has arrays of `{name}`, and JAX has no types of 64 bits switched on",
            help='say `jax.config.update("jax_enable_x64", True)` before the first array is made',
        )
    return np.dtype(_TYPES[name])
