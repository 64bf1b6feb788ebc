"""Data of the caller for a run: arrays as a stream of rows that a state can name a place in."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ._own_rows import Arrays, Input, Rows
from ._places import from_json, to_json
from .errors import HaliteWarning, wrong

__all__ = ["OwnData"]

# What data have that say where they are, as PyTorch's `StatefulDataLoader` and as Grain call it.
_NAMES = (("state_dict", "load_state_dict"), ("get_state", "set_state"))

_END = object()

_Place = tuple[str, int]
"""Where a stream is, as JSON, and how often all of it was given."""


class OwnData:
    """What is trained on and what is held out, which the caller gave as `keyword`, for the native module."""

    def __init__(
        self,
        data: Iterable[object],
        held_out: Mapping[str, Iterable[object]],
        *,
        allow_changes: bool,
        keyword: str = "held_out",
    ) -> None:
        self._keyword = keyword
        self._data = data
        self._held_out = held_out
        self._allow_changes = allow_changes

    def open(
        self, width: int | None, vocabulary: int | None, inputs: list[Input]
    ) -> tuple[Stream, list[tuple[str, Stream]]]:
        """Rows for a model, as `Rows` has them."""
        rows = Rows(width, vocabulary, inputs)
        held_out = [(name, Stream(self._keyword, data, rows, is_held_out=True)) for name, data in self._held_out.items()]
        return Stream("data", self._data, rows, allow_changes=self._allow_changes), held_out


class Stream:
    """Rows, in any number at a time, from batches of them; after the last batch again from the first.

    Its place is so many batches, so many rows of the next one, and the state of the source after the former.
    """

    def __init__(
        self,
        name: str,
        source: Iterable[object],
        rows: Rows,
        *,
        is_held_out: bool = False,
        allow_changes: bool = False,
    ) -> None:
        self._name = name
        self._source = source
        self._rows = rows
        self._is_held_out = is_held_out
        self._allow_changes = allow_changes
        self._batches: Iterator[object] | None = None
        self._epochs = 0
        self._place: dict[str, Any] = {"batches": 0, "rows": 0, "state": self._state()}
        # What is left of the next batch.
        self._left: Arrays = {}

    def identity(self) -> dict[str, str]:
        kind = type(self._source)
        return {"python": f"{kind.__module__}.{kind.__qualname__}"}

    def place(self) -> _Place:
        return json.dumps(self._place), self._epochs

    def next(self, rows: int) -> tuple[list[tuple[str, bytes]], str, int]:
        taken: list[Arrays] = []
        while rows > 0:
            if not _count(self._left) and not self._fetch():
                raise self._ended()
            part = {name: array[:rows] for name, array in self._left.items()}
            if taken and taken[0].keys() != part.keys():
                raise wrong(f"`{self._name}` gives arrays and mappings", help="give one or the other", code="E0520")
            taken.append(part)
            self._advance(_count(part))
            rows -= _count(part)
        if self._is_held_out and not _count(self._left):
            # Its end comes with its last sequence, and not when the first one is given again.
            self._fetch()
        given = [(name, np.concatenate([part[name] for part in taken]).tobytes()) for name in taken[0]]
        return (given, *self.place())

    def seek(self, position: str) -> _Place:
        place = json.loads(position)
        self._batches, self._left = None, {}
        keeper = self._keeper()
        if keeper is not None and place["state"] is not None:
            keeper[1](from_json(place["state"]))
            self._place = {**place, "rows": 0}
            if place["rows"] and self._fetch():
                self._advance(place["rows"])
            return self.place()
        if place["batches"] or place["rows"]:
            self._begin_anew(place["batches"])
        self._place = {"batches": 0, "rows": 0, "state": self._state()}
        return self.place()

    def _advance(self, rows: int) -> None:
        self._left = {name: array[rows:] for name, array in self._left.items()}
        if _count(self._left):
            self._place["rows"] += rows
        else:
            self._place = {"batches": self._place["batches"] + 1, "rows": 0, "state": self._state()}

    def _fetch(self) -> bool:
        """Takes the next batch, from the first one where there is none after; says whether there is one."""
        # A source that goes on from its end gives nothing once.
        for _ in range(2):
            if self._batches is None:
                self._batches = iter(self._source)
            batch = next(self._batches, _END)
            if batch is not _END:
                self._left = self._rows.of(batch, f"batch {self._place['batches']} of `{self._name}`")
                return True
            self._epochs += 1
            if self._batches is self._source:
                return False
            self._batches = None
        return False

    def _keeper(self) -> tuple[Callable[[], Any], Callable[[Any], object]] | None:
        """How the source says where it is, and how it goes there, if it can do both; or its iterator."""
        for gets, sets in _NAMES:
            if hasattr(self._source, gets) and hasattr(self._source, sets):
                return getattr(self._source, gets), getattr(self._source, sets)
        if self._batches is None:
            self._batches = iter(self._source)
        for gets, sets in _NAMES:
            if hasattr(self._batches, gets) and hasattr(self._batches, sets):
                return getattr(self._batches, gets), getattr(self._batches, sets)
        return None

    def _state(self) -> str | None:
        """Where the source is, as a text, so that it is no matter what is in it."""
        if self._is_held_out:
            return None
        keeper = self._keeper()
        if keeper is None:
            return None
        state = keeper[0]()
        try:
            return to_json(state)
        except (TypeError, ValueError) as error:
            raise wrong(
                f"what `data` say of where they are has no form in JSON: {error}",
                help="keep numbers, texts, arrays, lists and mappings of these in their state",
                code="E0520",
            ) from None

    def _ended(self) -> Exception:
        batches = self._place["batches"]
        message = f"`{self._name}` ended after {batches} batch{'' if batches == 1 else 'es'}, and the run needs more"
        help = "give what can be iterated again, such as a list or an object with `__iter__`, or make fewer `steps`"
        return wrong(message, help=help, code="E0520")

    def _begin_anew(self, batches: int) -> None:
        """What was read before cannot be passed over: only the caller can say that it may come again."""
        message = f"`data` cannot go on after the {batches} batches that the state has seen"
        note = "neither they nor their iterator have `state_dict` and `load_state_dict`"
        if not self._allow_changes:
            help = "give data that have, or say `allow_changes=True`, with which they begin anew"
            raise wrong(message, help=help, code="E0515", notes=[note])
        warnings.warn(f"{message}, and begin anew: {note}", HaliteWarning, stacklevel=3)


def _count(arrays: Arrays) -> int:
    """How many rows there are."""
    return len(next(iter(arrays.values()), ()))
