"""One update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax.sharding import Mesh

from ..bundle import Bundle
from ._apply import Apply, manifest_of, module_of
from ._function import Kernels
from ._state import transient


class TrainStep(Apply):
    """One update: `state, metrics = step(state, batch)`.

    The state holds weights and the state of the optimizer, by name, as the bundle stores them. Metrics are scalars: `loss`, the
    mean over the labels that count, `count`, `grad_norm`, `learning_rate`, and what else the recipe asks for.
    """

    _replaces = True

    def __init__(self, bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> None:
        manifest = manifest_of(bundle)
        if not manifest.schedule:
            module_of(bundle, "train_step")
        by_name = {module.name: module for module in manifest.modules}
        # Of one stage, which does nothing but call modules.
        runs = [action for actions in manifest.schedule for action in actions]
        modules = [by_name[name] for name in dict.fromkeys(run.name for run in runs)]
        saved = [buffer for buffer in manifest.buffers if buffer.is_saved]
        super().__init__(bundle, mesh, modules, saved, manifest.micro_batches)
        functions = {module.name: function for module, function in zip(modules, self._functions(kernels), strict=True)}
        self._calls = [
            (functions[run.name], piece, manifest.pieces(by_name[run.name]) or 1)
            for run in runs
            for piece in run.pieces or range(1)
        ]
        self._transient = [buffer for buffer in manifest.buffers if buffer.transient]

    def __call__(self, state: Mapping[str, Any], batch: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The state after the update, and its metrics."""
        self._states.check(state, alone=True)
        named = self._batches.named(batch)
        arrays = {**state, **transient(self._transient, self._layout)}
        metrics: dict[str, Any] = {}
        for function, piece, pieces in self._calls:
            fed = {name: _piece(array, piece, pieces) for name, array in named.items()}
            results = function({**arrays, **fed, **self._batches.declared(piece)})
            arrays |= {name: result for name, result in results.items() if name in arrays}
            metrics |= {name: result for name, result in results.items() if name not in arrays}
        return {name: arrays[name] for name in state}, metrics


def _piece(array: Any, at: int, pieces: int) -> Any:
    size = array.shape[0] // pieces
    return array if pieces == 1 else array[at * size : (at + 1) * size]
