"""Element types of a manifest in JAX."""

from __future__ import annotations

import jax
import numpy as np

from ..errors import wrong
from ..tensors import dtype_of as numpy_dtype

_WIDE = ("f64", "s64", "u64")


def dtype_of(name: str) -> np.dtype:
    """The type of this name; one of 64 bits only where JAX has those."""
    if name in _WIDE and not jax.config.read("jax_enable_x64"):
        raise wrong(
            f"the bundle has arrays of `{name}`, and JAX has no types of 64 bits switched on",
            help='say `jax.config.update("jax_enable_x64", True)` before the first array is made',
        )
    return numpy_dtype(name)
