"""What a run of training measured, as data that shows itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _html, _native, _table
from .pages import Page, Plot

__all__ = ["Evaluation", "History", "Update"]

# So many rows of a history are shown.
_ROWS = 10


@dataclass(frozen=True)
class Update:
    """What an update measured: `step` counts it too; `seen` is how much of the data a run saw so far, in `unit`: `tokens` or `examples`."""

    step: int
    seen: int
    unit: str
    metrics: Mapping[str, float]

    @property
    def loss(self) -> float:
        """The mean loss of the batch; NaN where the step does not report it."""
        return self.metrics.get("loss", math.nan)


@dataclass(frozen=True)
class Evaluation:
    """The mean loss on held-out data after `step` updates; `data` is what they are called, empty for the only ones.

    `counted` is what the mean is over: in the `unit` `tokens`, or in that of `count`, whatever the loss of the model counts.
    `metrics` are those of the model.
    """

    step: int
    data: str
    loss: float
    counted: int
    unit: str
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class History:
    """All that a run measured, updates before a resumption included; its files are in the folder `output`."""

    updates: tuple[Update, ...]
    evaluations: tuple[Evaluation, ...]
    output: Path

    @property
    def state(self) -> Path:
        """The last state, which `halite.load_tensors` reads."""
        return self.output / "state.safetensors"

    @property
    def last(self) -> int:
        """The number of its last update."""
        return self.updates[-1].step if self.updates else 0

    def plot(self) -> Plot:
        """The loss over the updates, as `loss.svg` in `output` has it."""
        updates = [(each.step, each.seen, each.unit == "tokens", list(each.metrics.items())) for each in self.updates]
        evaluations = [
            (each.step, each.data, each.loss, each.counted, each.unit == "tokens", list(each.metrics.items()))
            for each in self.evaluations
        ]
        return Plot(_native.loss_plot(self._title, updates, evaluations))

    def report(self) -> Page:
        """The page of the run up to here, as `report.html` in `output` has it: all curves, alarms, times and the recipe. A notebook shows it.

        Raises `Error` where `output` is gone.
        """
        return Page(_native.report(self._title, str(self.output), self.last))

    @property
    def _title(self) -> str:
        return self.output.resolve().name

    def __str__(self) -> str:
        return _table.table(self._head(), self._rows())

    def _repr_html_(self) -> str:
        table = _html.table(self._head(), self._rows(), caption=str(self.output))
        return self.plot()._repr_html_() + table if self.updates else table

    def _head(self) -> Sequence[str]:
        return ("update", self.updates[0].unit if self.updates else "tokens", "loss", "held-out loss")

    def _rows(self) -> list[Sequence[str]]:
        """The first update, the last one, and some between them at equal distances; the evaluations after them."""
        held_out = {(each.step, each.data): each.loss for each in self.evaluations}
        count = len(self.updates)
        shown = sorted({(count - 1) * at // (_ROWS - 1) for at in range(_ROWS)}) if count else []
        rows: list[Sequence[str]] = []
        for update in (self.updates[at] for at in shown):
            losses = [f"{loss:.4f}" for (step, _), loss in held_out.items() if step == update.step]
            rows.append([str(update.step), f"{update.seen:,}", f"{update.loss:.4f}", ", ".join(losses)])
        return rows
