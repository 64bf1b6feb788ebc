"""What a batch of the caller is to a model: rows of each of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .errors import wrong
from .tensors import dtype_of

__all__ = ["Arrays", "Input", "Rows"]

Arrays = dict[str, np.ndarray]
"""Arrays with as many rows each, by the names of inputs; sequences alone have the name `""`."""

Input = tuple[str, str, tuple[int, ...]]
"""Name, element type and, without the first, the sizes of an input of a model."""


class Rows:
    """Makes rows of batches for a model with these inputs.

    It takes sequences of `width` tokens with ids below `vocabulary` in place of all its inputs, where `width` is known.
    """

    def __init__(self, width: int | None, vocabulary: int | None, inputs: list[Input]) -> None:
        self._width = width
        self._vocabulary = 2**31 if vocabulary is None else vocabulary
        self._inputs = inputs

    def of(self, batch: object, place: str) -> Arrays:
        """The rows of a batch, which `place` names."""
        if isinstance(batch, Mapping):
            return self._examples(batch, place)
        return {"": self._sequences(batch, place)}

    def _sequences(self, batch: object, place: str) -> np.ndarray:
        if self._width is None:
            names = ", ".join(f"`{name}`" for name, _, _ in self._inputs)
            raise wrong(f"{place} is no mapping, and the model takes {names}", help="give a mapping from the names of inputs to arrays", code="E0520")
        array = np.asarray(batch)
        if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != self._width or not len(array):
            raise wrong(
                f"{place} is `{array.dtype}{list(array.shape)}`, expected whole numbers `[rows, {self._width}]`",
                help="give arrays of token ids with a row for each sequence, which has `seq` tokens and one more to predict",
                code="E0520",
            )
        unknown = array[(array < 0) | (array >= self._vocabulary)]
        if len(unknown):
            message = f"{place} has the token {unknown[0]}, and the model knows 0 to {self._vocabulary - 1}"
            raise wrong(message, help="give the ids of the model's tokens, or compile a model with more", code="E0521")
        return array.astype(np.int32)

    def _examples(self, batch: Mapping[object, object], place: str) -> Arrays:
        names = [name for name, _, _ in self._inputs]
        if set(batch) != set(names):
            found, taken = (", ".join(f"`{name}`" for name in all) for all in (batch, names))
            raise wrong(f"{place} has {found}, and the model takes {taken}", help="give an array for each input of the model", code="E0520")
        arrays = {name: _typed(f"`{name}` in {place}", batch[name], dtype, shape) for name, dtype, shape in self._inputs}
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) > 1 or 0 in counts.values():
            rows = ", ".join(f"{count} of `{name}`" for name, count in counts.items())
            raise wrong(f"{place} has {rows}", help="give as many rows of each input, and at least one", code="E0520")
        return arrays


def _typed(what: str, given: object, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of this element type and shape, but for its first dimension; numbers change their type, not their value."""
    array, dtype = np.asarray(given), dtype_of(name)
    if array.ndim == 0 or array.shape[1:] != tuple(shape):
        sizes = ", ".join(["rows", *map(str, shape)])
        raise wrong(f"{what} is `{array.dtype}{list(array.shape)}`, expected `[{sizes}]`", help="give it in the shape that the model takes", code="E0520")
    if _kind(array.dtype) != _kind(dtype):
        raise wrong(f"{what} is `{array.dtype}`, expected `{dtype}`", help="convert it to the element type that the model takes", code="E0520")
    if array.dtype.kind in "iu" and array.size:
        info = np.iinfo(dtype)
        if array.min() < info.min or array.max() > info.max:
            raise wrong(f"{what} has numbers from {array.min()} to {array.max()}, which `{dtype}` does not hold", help="give numbers in its range", code="E0520")
    return array.astype(dtype)


def _kind(dtype: np.dtype) -> str:
    """What numbers of an element type are; `bfloat16` is to NumPy a type of its own kind."""
    return "float" if "float" in dtype.name else {"i": "int", "u": "int"}.get(dtype.kind, dtype.kind)
