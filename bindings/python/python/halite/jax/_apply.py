"""What the functions of all roles have in common: a bundle on a mesh, its arrays and its batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding

from ..bundle import Bundle
from ..errors import wrong
from ..manifest import Buffer, Manifest, Module
from ._batch import Batches
from ._function import Function, Kernels
from ._jit import Jitted
from ._layout import Layout
from ._state import State, States
from ._tensors import ModelTensors


class Apply:
    """A function of arrays over the mesh of a bundle, and what makes these arrays.

    It is a function as JAX has them, to be called in `jax.jit` and inside other functions. `jit` compiles it, and checks what
    each call is given.
    """

    def __init__(self, bundle: Bundle, mesh: Mesh | None, modules: list[Module], arrays: list[Buffer], count: int) -> None:
        self.bundle = bundle
        self._layout = Layout(bundle.manifest, mesh)
        self._states = States(bundle, self._layout, arrays)
        self._tensors = ModelTensors(bundle, self._layout, self._states.placements)
        read = {port.name for module in modules for port in module.inputs}
        fed = [buffer for buffer in bundle.manifest.buffers if buffer.is_batch and buffer.name in read]
        self._batches = Batches(bundle, self._layout, fed, count)
        self._modules = modules

    def _functions(self, kernels: Kernels) -> list[Function]:
        return [Function(self.bundle, module, self._layout, kernels) for module in self._modules]

    @property
    def mesh(self) -> Mesh:
        """The devices, in the axes of the bundle's mesh; an axis that arrays are sharded along in parts is several."""
        return self._layout.mesh

    @property
    def shardings(self) -> dict[str, NamedSharding]:
        """How each array of the state lies, by name."""
        return self._states.shardings

    def abstract_state(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each array of the state: what `lower` and checkpoints take."""
        return self._states.abstract()

    def abstract_batch(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each array of the batch."""
        return self._batches.abstract()

    def init(self, seed: int | None = None) -> State:
        """What training starts from, as `halite init` makes it; without a seed by that of the recipe.

        Each device makes its own part and nothing else.
        """
        return self._states.init(seed)

    def put_batch(self, batch: Any) -> dict[str, jax.Array]:
        """A batch on the devices, from NumPy arrays of the whole; each process keeps its part."""
        return self._batches.put(batch)

    def put_state(self, tensors: Mapping[str, Any]) -> State:
        """A state on the devices, from the tensors of the model.

        These are arrays of NumPy, whole in each process, as `Bundle.init` and `halite.load_tensors` give them, or those of JAX
        that `tensors` gave, on this layout or another.
        """
        return self._tensors.to_state(tensors)

    def tensors(self, state: Mapping[str, jax.Array]) -> State:
        """The tensors of the model in a state, sharded over the devices: the same on every layout, so what to save.

        `put_state` makes a state of them; bits do not change on the way.
        """
        self._states.check(state, alone=False)
        return self._tensors.of_state(state)

    def abstract_tensors(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape, element type and sharding of each tensor of the model: what a checkpoint is restored to."""
        return self._tensors.abstract()

    def jit(
        self, *, donate: bool = True, check_ids: bool = False, compiler_options: Mapping[str, Any] | None = None
    ) -> Jitted:
        """The same compiled, with the options of XLA under which results are rounded as the recipe says.

        With `donate`, a call takes over the memory of the state where it gives a new one. Each call checks names, types,
        shapes, shardings and donated arrays before anything runs; with `check_ids` also that the numbers of the batch are in
        the range that the model takes, which waits for the batch to be on the host.
        """
        return Jitted(self, donate=donate and self._replaces, check_ids=check_ids, compiler_options=compiler_options)

    _replaces = False

    def check(self, state: Mapping[str, Any], batch: Any, *, ids: bool = False) -> None:
        """Refuses what does not fit, with an exception that names the array and says what was expected."""
        self._states.check(state, alone=self._replaces)
        named = self._batches.named(batch)
        if ids:
            self._batches.check_numbers(self._modules[0].name, named)

    def __call__(self, state: Mapping[str, Any], batch: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        modules = " and ".join(module.name for module in self._modules)
        devices = "1 device" if self.mesh.size == 1 else f"{self.mesh.size} devices, {dict(self.mesh.shape)}"
        return f"<halite.jax.{type(self).__name__} {modules} of {self.bundle.manifest.model.name} on {devices}>"


def manifest_of(bundle: Bundle) -> Manifest:
    """The manifest of what is a bundle, of one stage."""
    if not isinstance(bundle, Bundle):
        kind = type(bundle).__name__
        raise wrong(f"a `halite.Bundle` is expected, not a `{kind}`", help="make one by `halite.compile(..)`")
    manifest = bundle.manifest
    ports = [port for module in manifest.modules for port in (*module.inputs, *module.outputs)]
    if len(manifest.schedule) > 1 or any(port.role == "value" for port in ports):
        raise wrong(
            "the bundle is one of a pipeline, whose modules run on several stages",
            notes=["stages are not run yet"],
            help="compile the recipe without `parallel.pipeline`",
        )
    return manifest


def module_of(bundle: Bundle, role: str) -> Module:
    """The module of a role."""
    manifest = manifest_of(bundle)
    module = manifest.module(role)
    if module is None:
        known = ", ".join(f"`{module.role}`" for module in manifest.modules)
        raise wrong(
            f"the bundle has no module of the role `{role}`, it has {known}",
            help=f'compile it with the role: `halite.compile(.., roles=["{role}"])`',
        )
    return module
