"""Arrays that are given: what is checked of each before anything runs, and how it comes to devices."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from ..errors import wrong


def put(array: Any, sharding: NamedSharding) -> jax.Array:
    """An array on devices: each process gives the whole and keeps its part."""
    whole = np.asarray(array)
    return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])


def check(name: str, array: Any, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """Refuses what is no array of this element type and shape."""
    if not hasattr(array, "dtype") or not hasattr(array, "shape"):
        raise wrong(
            f"the array `{name}` is a `{type(array).__name__}`, expected `{dtype}` of {list(shape)}",
            help="pass an array of JAX or NumPy",
        )
    if array.dtype != dtype or array.shape != shape:
        raise wrong(
            f"the array `{name}` is `{array.dtype}` of {list(array.shape)}, expected `{dtype}` of {list(shape)}",
            help="pass an array of that type and shape; shapes are those of the whole, over all devices",
        )
