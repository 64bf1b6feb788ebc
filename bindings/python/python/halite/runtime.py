"""Training through Halite's own runtime: a compiled step on the devices of a PJRT plugin, without JAX."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from . import _native
from ._quiet import quiet_xla
from .bundle import Bundle
from .tensors import Tensors, from_native, to_native

__all__ = ["TrainStep"]


class TrainStep:
    """A compiled step with its state on devices: CPU XLA by default, else those of the plugin in the file `plugin`.

    Programs are given to it as HLO, or with `stablehlo` as that, which plugins of some platforms want.
    """

    def __init__(
        self, bundle: Bundle, *, plugin: str | os.PathLike[str] | None = None, stablehlo: bool = False
    ) -> None:
        with quiet_xla():
            self._native = _native.TrainStep(bundle._native, None if plugin is None else os.fspath(plugin), stablehlo)

    def init(self, seed: int) -> None:
        """Starts from the state of a seed."""
        self._native.init(seed)

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on from a state: the tensors of the model, by name."""
        self._native.set_state(to_native(state))

    def state(self) -> Tensors:
        """The tensors of the model with the state of the optimizer, by name."""
        return from_native(self._native.state())

    def step(self, batch: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Makes one update with a batch, by name, and gives its metrics."""
        return dict(self._native.step(to_native(batch)))
