"""What a function of JAX says of its gradients, and a program by itself does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir

RULED = ("custom_jvp_call", "custom_vjp_call")
"""The primitives of functions with a rule of their own."""

LIKE = ("_softmax", "logaddexp", "logaddexp2")
"""Functions of JAX whose rules are the gradients of what they compute, so that these can be derived: and are, since they are recognized."""


def lowered(traced: Any) -> Any:
    """A traced function as a program, in which composites say of gradients what JAX knows of them.

    Each `stop_gradient` is a `halite.stop_gradient`. Each function with a rule of its own, by `custom_jvp` or `custom_vjp`, is a
    `halite.with_gradient`: its decomposition takes the function's operands and cotangents of its values, and gives values and gradients.
    """
    rules = {"stop_gradient": _stopped, **dict.fromkeys(RULED, _ruled)}
    found = {equation.primitive for equation in _equations(traced.jaxpr.jaxpr) if equation.primitive.name in rules}
    if not found:
        return traced.lower()
    by_primitive = tuple(
        (primitive, mlir.lower_fun(rules[primitive.name](primitive), multiple_results=primitive.multiple_results)) for primitive in found
    )
    return traced.lower(_private_parameters=mlir.LoweringParameters(override_lowering_rules=by_primitive))  # type: ignore[arg-type]


def _stopped(_: Any) -> Any:
    return jax.lax.composite(lambda x: x, name="halite.stop_gradient")


def _ruled(primitive: Any) -> Any:
    """How a call with a rule of its own is written."""

    def rule(*operands: Any, **params: Any) -> Any:
        inner = params["call_jaxpr"]
        if (name := _own(inner)) == "relu":
            return jax.lax.composite(lambda x: [jnp.maximum(x, 0)], name="halite.relu")(*operands)
        if name in LIKE:
            return _evaluated(inner, operands)
        return _with_gradient(lambda *operands: _bound(primitive, operands, params), operands)

    return rule


def _with_gradient(function: Any, operands: Any) -> Any:
    """The values of a function that JAX differentiates by a rule."""
    count, shapes = len(operands), jax.eval_shape(function, *operands)

    def both(*given: Any) -> list[Any]:
        operands, cotangents = given[:count], iter(given[count:])
        found, pullback = jax.vjp(function, *operands)
        gradients = pullback([next(cotangents) if _is_float(value) else np.zeros(value.shape, jax.dtypes.float0) for value in found])
        return [*found, *(gradient for operand, gradient in zip(operands, gradients, strict=True) if _is_float(operand))]

    zeros = [jnp.zeros(value.shape, value.dtype) for value in shapes if _is_float(value)]
    # Within, a rule may call the function that it is of, which is no more than its values there.
    derived = jax.make_jaxpr(both)(*operands, *zeros)
    composite = jax.lax.composite(lambda *given, values: _evaluated(derived, given), name="halite.with_gradient")
    return composite(*operands, *zeros, values=len(shapes))[: len(shapes)]


def _evaluated(program: Any, operands: Any) -> list[Any]:
    """The results of a program of JAX, in which functions are no more than what they compute."""
    body = getattr(program, "jaxpr", program)
    known = dict(zip(body.constvars, getattr(program, "consts", ()), strict=True)) | dict(zip(body.invars, operands, strict=True))

    def value(of: Any) -> Any:
        return of.val if hasattr(of, "val") else known[of]

    for equation in body.eqns:
        given = [value(of) for of in equation.invars]
        if equation.primitive.name in RULED:
            found = _evaluated(equation.params["call_jaxpr"], given)
        else:
            found = _bound(equation.primitive, given, {key: _plain(param) for key, param in equation.params.items()})
        known.update(zip(equation.outvars, found, strict=True))
    return [value(of) for of in body.outvars]


def _plain(param: Any) -> Any:
    """A parameter of an equation, with each program in it as `_evaluated` takes it."""
    if isinstance(param, (tuple, list)):
        return type(param)(map(_plain, param)) if type(param) in (tuple, list) else param
    body = getattr(param, "jaxpr", param)
    if not hasattr(body, "eqns") or not any(equation.primitive.name in RULED for equation in _equations(body)):
        return param
    types = [jax.ShapeDtypeStruct(of.aval.shape, of.aval.dtype) for of in body.invars]
    made = jax.make_jaxpr(lambda *operands: _evaluated(param, operands))(*types)
    return made if hasattr(param, "jaxpr") else made.jaxpr


def _bound(primitive: Any, operands: Any, params: Any) -> list[Any]:
    """The results of a primitive."""
    bound = primitive.get_bind_params(params)
    # JAX before 0.8 has functions among the parameters apart.
    functions, params = bound if isinstance(bound, tuple) else ((), bound)
    found = primitive.bind(*functions, *operands, **params)
    return found if primitive.multiple_results else [found]


def _is_float(value: Any) -> bool:
    return bool(jnp.issubdtype(value.dtype, jnp.floating))


def _own(program: Any) -> str | None:
    """The name of the function that a program is, if it is one of JAX itself."""
    about = getattr(getattr(program, "jaxpr", program), "debug_info", None)
    name, _, place = str(getattr(about, "func_src_info", None) or "").partition(" at ")
    return name if str(Path(jax.__file__).parent) in place else None


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
