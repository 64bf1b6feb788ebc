"""Compiled functions that check what they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from ._apply import Apply

# Without these, XLA for CPUs keeps chains of narrow types in wider ones, and takes NaN for a number in minima and maxima; with
# several devices it starts independent collectives in an order of its own on each, which then wait for one another.
_CPU = {"xla_allow_excess_precision": False, "xla_cpu_enable_fast_min_max": False}
_CPU_RANKS = {"xla_cpu_enable_concurrency_optimized_scheduler": False}


class Jitted:
    """A function compiled by `jax.jit`, which looks at its arguments before it runs."""

    def __init__(
        self, apply: Apply, *, donate: bool, check_ids: bool, compiler_options: Mapping[str, Any] | None
    ) -> None:
        self._apply = apply
        self._check_ids = check_ids
        options = {**exact_options(apply.mesh), **(compiler_options or {})}
        self._jitted = jax.jit(apply, donate_argnums=(0,) if donate else (), compiler_options=options or None)

    def __call__(self, state: Mapping[str, Any], batch: Any) -> Any:
        """As the function that is compiled."""
        self._apply.check(state, batch, ids=self._check_ids)
        return self._jitted(state, batch)

    def __repr__(self) -> str:
        return f"<jitted {self._apply!r}>"

    def lower(self, state: Any = None, batch: Any = None) -> jax.stages.Lowered:
        """Ahead of time: the program for such arguments, by default those that the bundle takes; `.compile()` compiles it."""
        state = self._apply.abstract_state() if state is None else state
        batch = self._apply.abstract_batch() if batch is None else batch
        return self._jitted.lower(state, batch)


def exact_options(mesh: jax.sharding.Mesh) -> dict[str, Any]:
    """The options of XLA under which a program on these devices is rounded as its recipe says.

    `step.jit()` has them; a function of yours that calls a step takes them as
    `jax.jit(function, compiler_options=halite.jax.exact_options(step.mesh))`.
    """
    if mesh.devices.flat[0].platform != "cpu":
        return {}
    return {**_CPU, **(_CPU_RANKS if mesh.size > 1 else {})}
