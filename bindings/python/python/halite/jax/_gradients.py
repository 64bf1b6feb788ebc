"""What a function of JAX says of its gradients, and a program by itself does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jax
from jax.interpreters import mlir

from ..errors import wrong

_stopped = jax.lax.composite(lambda x: x, name="halite.stop_gradient")


def lowered(traced: Any) -> Any:
    """A traced function as a program, in which each `stop_gradient` is a composite that says so.

    Raises `halite.Error` where it has rules of differentiation that JAX itself does not have: they are in no program.
    """
    equations = list(_equations(traced.jaxpr.jaxpr))
    for equation in equations:
        if (rule := _rule(equation)) is not None:
            raise wrong(
                f"the function has a rule for its gradient, which its program does not say: {rule}",
                help="leave it out where the gradient is that of what is computed, or write it with `jax.lax.stop_gradient`",
            )
    stops = {equation.primitive for equation in equations if equation.primitive.name == "stop_gradient"}
    if not stops:
        return traced.lower()
    marked = mlir.lower_fun(_stopped, multiple_results=False)
    rules = tuple((primitive, marked) for primitive in stops)
    return traced.lower(_private_parameters=mlir.LoweringParameters(override_lowering_rules=rules))  # type: ignore[arg-type]


def _rule(equation: Any) -> str | None:
    """The rule by which an equation is differentiated, with its place, unless JAX itself has it."""
    if equation.primitive.name not in ("custom_jvp_call", "custom_vjp_call"):
        return None
    inner = next(programs(equation.params.values()), None)
    place = str(getattr(getattr(inner, "debug_info", None), "func_src_info", None) or "")
    own = place and str(Path(jax.__file__).parent) not in place
    return f"`{equation.primitive.name.removesuffix('_call')}` of `{place}`" if own else None


def _equations(program: Any) -> Iterator[Any]:
    """All equations of a program of JAX, also of those within."""
    for equation in program.eqns:
        yield equation
        for inner in programs(equation.params.values()):
            yield from _equations(inner)


def programs(values: Iterable[Any]) -> Iterator[Any]:
    """The programs among the parameters of an equation."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from programs(value)
        elif hasattr(value, "jaxpr"):
            yield value.jaxpr
        elif hasattr(value, "eqns"):
            yield value
