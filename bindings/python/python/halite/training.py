"""Training from start to end."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._meant import meant
from ._quiet import quiet_xla
from ._values import whole
from .bundle import Bundle
from .errors import Diagnostic, HaliteWarning, Reported, diagnostics_of
from .history import Evaluation, History, Update
from .progress import ProgressLike, watched
from .runs import evaluation_of, update_of
from .source import Input, compile, load

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Batch = ArrayLike | Mapping[str, ArrayLike]

__all__ = ["Callbacks", "train"]


class Callbacks:
    """What is told how a run goes: a subclass has the methods that it needs. They are called in the thread that called `train`, and the
    run waits for them. What one raises ends the run after the update, with its state saved.
    """

    def on_update(self, update: Update) -> None:
        """An update was made."""

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """The loss on what is held out was measured."""

    def on_checkpoint(self, step: int, state: Path) -> None:
        """The state after `step` updates was saved in this file, whole."""

    def on_warning(self, warning: Diagnostic) -> None:
        """Something deserves a look; it is warned of too, as `HaliteWarning`."""


def train(
    input: Input | Bundle,
    /,
    data: Mapping[str, Any] | Iterable[Batch] | None = None,
    *,
    held_out: Mapping[str, Iterable[Batch]] | Iterable[Batch] | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    weights: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    allow_changes: bool = False,
    eval_every: int | None = None,
    eval_batches: int | None = None,
    checkpoint_every: int | None = None,
    checkpoint_minutes: int | None = None,
    keep: int | None = None,
    keep_every: int | None = None,
    restarts: int | None = None,
    rollbacks: int | None = None,
    samples: int | None = None,
    callbacks: Callbacks | Iterable[Callbacks] = (),
    plugin: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
    **overrides: Any,
) -> History:
    """Trains a bundle, or what `compile` takes, as `halite train` does: the same bits in `output`, by default `runs/NAME`.

    `data` are, where the recipe has no table `data`, what that would be, such as `{"sources": [{"files": ["book.txt"]}]}`; or arrays of
    token ids `[rows, seq + 1]`, any number of rows at a time, from anything that can be iterated: a list, a generator, a loader. A model
    that takes something else gets mappings from the names of its inputs to arrays `[rows, ..]`. They are read in this thread while the device works, and begin again after the last. `held_out` are arrays too, read once, or several
    data sets by name.

    A run goes on from the newest checkpoint in `output`, with `resume` from another state, with `weights` from a checkpoint and a new
    optimizer; `fresh` starts it anew. Where arrays go on is what their source says: it has `state_dict` and `load_state_dict`, as
    PyTorch's `StatefulDataLoader`, or `get_state` and `set_state`, as Grain's iterators, with a state that JSON can hold, arrays, tensors of PyTorch and bytes included. Without them
    a run is refused that would go on, unless `allow_changes`, with which its data begin anew.

    `steps` counts all updates, those before a resumption too. Checkpoints are saved every so many updates and minutes; the last `keep`
    stay, and those of every `keep_every` updates. The run goes on from its newest one `restarts` times where the device fails, and back
    `rollbacks` times before an update that spoils it. What of all this is left out, the recipe says.
    The page `report.html` of a run on text has as many `samples`, texts that the model goes on with at the end: the forward is compiled for
    them, so that left out they are two where the target is the CPU, and none elsewhere.
    `callbacks` are told how the run goes, `overrides` are those of `compile`. The devices are those of the PJRT plugin in the file
    `plugin`, by default the CPU's.

    Ctrl-C ends it after the current update, with its state saved: the same call goes on from there. So does an exception of a callback or
    of `data`, which is raised.

    >>> import halite, numpy as np, tempfile
    >>> text = np.frombuffer(b"the quick brown fox jumps over the lazy dog. " * 64, np.uint8)
    >>> rows = np.stack([text[at : at + 65] for at in range(160)]).reshape(20, 8, 65)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     history = halite.train("tiny", rows, steps=20, output=folder)
    >>> history.updates[0].loss > 5, history.updates[-1].loss < 3
    (True, True)
    """
    compile_seconds: float | None = None
    if isinstance(input, Bundle):
        given = next(iter(overrides), None)
        if given is not None:
            raise TypeError(f"a `Bundle` is compiled already: leave `{given}` out, or give the recipe")
        if isinstance(data, Mapping):
            raise TypeError("a `Bundle` has the table `data` of its recipe: give arrays, or the recipe in its place")
        bundle, name, native = input, input.manifest.model.name, None
    else:
        if isinstance(data, Mapping):
            overrides["data"] = data
        began = time.monotonic()
        with meant(train, overrides):
            source = load(input, **overrides)
            bundle, name, native = compile(source, progress=progress), source.name, source._native
        compile_seconds = time.monotonic() - began
    folder = Path("runs", name) if output is None else Path(output)
    observer = _Observer([callbacks] if isinstance(callbacks, Callbacks) else list(callbacks))
    options = {
        "title": name,
        "output": folder,
        "steps": _whole("steps", steps),
        "seed": _whole("seed", seed, most=2**63 - 1),
        "resume": resume,
        "weights": weights,
        "fresh": bool(fresh),
        "allow_changes": bool(allow_changes),
        "eval_every": _whole("eval_every", eval_every),
        "eval_batches": _whole("eval_batches", eval_batches),
        "checkpoint_every": _whole("checkpoint_every", checkpoint_every),
        "checkpoint_minutes": _whole("checkpoint_minutes", checkpoint_minutes),
        "keep": _whole("keep", keep, least=1),
        "keep_every": _whole("keep_every", keep_every),
        "restarts": _whole("restarts", restarts),
        "rollbacks": _whole("rollbacks", rollbacks),
        "samples": _whole("samples", samples, most=64),
        "compile_seconds": compile_seconds,
        "plugin": plugin,
    }
    starts = [name for name, given in (("resume", resume), ("weights", weights), ("fresh", fresh or None)) if given is not None]
    if len(starts) > 1:
        raise TypeError(f"a run starts in one way, not in {len(starts)}: leave `{starts[0]}` or `{starts[1]}` out")
    own = _own_data(data, held_out, allow_changes)
    with watched(progress, f"training {name}", unit=" updates") as tell, quiet_xla():
        try:
            updates, evaluations = _native.train(bundle._native, native, own, options, observer, tell)
        except BaseException as error:
            observer.say_what_is_saved(error)
            raise
    return History(tuple(update_of(each) for each in updates), tuple(evaluation_of(each) for each in evaluations), folder)


def _whole(name: str, value: int | None, *, least: int = 0, most: int = 2**32 - 1) -> int | None:
    return None if value is None else whole(name, value, least=least, most=most)


def _own_data(data: object, held_out: object, allow_changes: bool) -> object | None:
    """The data of the caller for the native module; `None` where they are the recipe's."""
    if data is None or isinstance(data, Mapping):
        if held_out is not None:
            raise TypeError("`held_out` are arrays beside arrays to train on: give `data`, or the table's own `held_out`")
        return None
    from ._own_data import OwnData

    named = held_out if isinstance(held_out, Mapping) else {} if held_out is None else {"": held_out}
    for name, given in (("data", data), *(("held_out", each) for each in named.values())):
        if isinstance(given, str | bytes | os.PathLike) or not (hasattr(given, "__iter__") or hasattr(given, "__getitem__")):
            hint = 'files are given as `{"sources": [{"files": [..]}]}`'
            raise TypeError(f"`{name}` are arrays, not a `{type(given).__name__}`; {hint}")
    return OwnData(data, named, allow_changes=bool(allow_changes))  # type: ignore[arg-type]


class _Observer:
    """Hears of a run from the native module, for all callbacks."""

    def __init__(self, callbacks: list[Callbacks]) -> None:
        for each in callbacks:
            if not isinstance(each, Callbacks):
                raise TypeError(f"`callbacks` are of a class below `halite.Callbacks`, not a `{type(each).__name__}`")
        self._callbacks = callbacks
        self._saved: tuple[int, Path] | None = None

    def updated(self, *raw: Any) -> None:
        update = update_of(raw)
        for each in self._callbacks:
            each.on_update(update)

    def evaluated(self, *raw: Any) -> None:
        evaluation = evaluation_of(raw)
        for each in self._callbacks:
            each.on_evaluation(evaluation)

    def saved(self, step: int, folder: Path) -> None:
        state = folder / "state.safetensors"
        self._saved = step, state
        for each in self._callbacks:
            each.on_checkpoint(step, state)

    def warned(self, reported: list[Reported]) -> None:
        for warning in diagnostics_of(reported):
            warnings.warn(str(warning), HaliteWarning, stacklevel=3)
            for each in self._callbacks:
                each.on_warning(warning)

    def say_what_is_saved(self, error: BaseException) -> None:
        if self._saved is not None and sys.version_info >= (3, 11):
            step, state = self._saved
            error.add_note(f"the state after update {step} is saved in `{state}`: the same call goes on from there")
