"""What changes no state: the forward pass, the loss, gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax.sharding import Mesh

from ..bundle import Bundle
from ._apply import Apply, module_of
from ._function import Kernels


class Evaluate(Apply):
    """A module that reads weights and a batch: `results = apply(weights, batch)`.

    The weights are those of a state, by name, as the bundle stores them; other arrays of a state are left aside.
    """

    def __init__(self, bundle: Bundle, mesh: Mesh | None, role: str, kernels: Kernels) -> None:
        module = module_of(bundle, role)
        read = {port.name for port in module.inputs}
        arrays = [buffer for buffer in bundle.manifest.buffers if not buffer.is_batch and buffer.name in read]
        super().__init__(bundle, mesh, [module], arrays, 1)
        (self._function,) = self._functions(kernels)

    def __call__(self, state: Mapping[str, Any], batch: Any) -> dict[str, Any]:
        """The results by name."""
        self._states.check(state, alone=False)
        return self._function({**state, **self._batches.named(batch), **self._batches.declared()})


class Gradients(Evaluate):
    """The loss and its gradients: `metrics, gradients = grads(weights, batch)`.

    `metrics` has `loss`, a sum over the labels that count, and their `count`. `gradients` are those of the sum, with the names
    and shapes of the weights, so that optimizers of other libraries take both.
    """

    def __init__(self, bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> None:
        super().__init__(bundle, mesh, "grads", kernels)
        self._names = [port.name for port in self._modules[0].outputs if port.role == "gradient"]

    def __call__(self, state: Mapping[str, Any], batch: Any) -> Any:
        """Metrics and gradients."""
        results = super().__call__(state, batch)
        gradients = {name: results.pop(name) for name in self._names}
        return results, gradients
