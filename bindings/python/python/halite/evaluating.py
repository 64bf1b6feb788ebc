"""The loss of a model on data."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._learned import Learnt, Tensors, learned
from ._quiet import quiet_xla
from ._values import whole
from .errors import HaliteWarning, diagnostics_of
from .progress import ProgressLike, watched

if TYPE_CHECKING:
    from .training import Batch

__all__ = ["Evaluated", "evaluate"]


@dataclass(frozen=True)
class Evaluated:
    """The mean loss on the data set `data`. `counted` is what it is the mean over: in the `unit` `tokens`, or in that of `count`,
    whatever the loss of the model counts; of tokens it has a `perplexity`, the exponential of the loss, otherwise that is `None`.
    `metrics` are those of the model.
    """

    data: str
    loss: float
    counted: int
    unit: str
    perplexity: float | None
    metrics: Mapping[str, float]


def evaluate(
    run_or_bundle: Learnt,
    /,
    *,
    state: Tensors | None = None,
    weights: Tensors | None = None,
    data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Iterable[Batch] | Mapping[str, Iterable[Batch]] | None = None,
    tokenizer: str | os.PathLike[str] | None = None,
    batches: int | None = None,
    plugin: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> list[Evaluated]:
    """Measures the loss of a model, as `halite eval` does: the same numbers, one for each data set. Nothing is trained.

    The model is a `Run` or the path of its folder or of a checkpoint; the folder of a checkpoint of Transformers; or a `Bundle`, its path or
    what `compile` takes, with `state`, that of a run of it (a file, a checkpoint or the folder of a run), or `weights`, a checkpoint as
    `Bundle.init` takes it. Both may be arrays by name too, as `load_tensors` and `Bundle.init` give them.

    `data` are files of text or JSON lines, each a data set, by default what the recipe or the run holds out; or arrays as `train` takes them,
    of token ids `[rows, seq + 1]`, or several data sets of these by name, each read once. `tokenizer` is `"bytes"` or
    the path of a `tokenizer.json`, by default that of the recipe. At most so many `batches` of each data set are measured. The devices are those
    of the PJRT plugin in the file `plugin`, by default the CPU's.

    Raises `Error` where there is no data to measure on, or the state is of another model; `TypeError` and `ValueError` for keywords
    of another kind or range.
    """
    files, own = _files_or_own(data)
    most = None if batches is None else whole("batches", batches, least=1, most=2**32 - 1)
    name, bundle, options = learned(run_or_bundle, state, weights, tokenizer, plugin, progress)
    with watched(progress, f"measuring {name}") as tell, quiet_xla():
        found, reported = _native.evaluate(bundle, options, files, own, most, tell)
    for warning in diagnostics_of(reported):
        warnings.warn(str(warning), HaliteWarning, stacklevel=2)
    return [Evaluated(*numbers[:-1], dict(numbers[-1])) for numbers in found]


def _files_or_own(data: Any) -> tuple[list[str], object | None]:
    """Files, or data of the caller for the native module."""
    if data is None:
        return [], None
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)], None
    if isinstance(data, Sequence) and not len(data):
        raise ValueError("`data` is an empty list: leave it out, or name files")
    if isinstance(data, Sequence) and all(isinstance(each, str | os.PathLike) for each in data):
        return [os.fspath(file) for file in data], None
    named = data if isinstance(data, Mapping) else {"data": data}
    # An array of rows is one batch of them.
    named = {name: [given] if getattr(given, "ndim", None) == 2 else given for name, given in named.items()}
    for given in named.values():
        if isinstance(given, str | bytes | os.PathLike) or not (hasattr(given, "__iter__") or hasattr(given, "__getitem__")):
            raise TypeError(f"`data` are files, or arrays, not a `{type(given).__name__}`")
    from ._own_data import OwnData

    return [], OwnData((), named, allow_changes=False, keyword="data")
