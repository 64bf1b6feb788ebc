"""What is checked of an array before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import wrong


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
