"""A Halite program as a JAX primitive: its lowering puts our StableHLO into the program of the caller.

All that is used here of JAX which it does not document as public is in this file: the module, its symbols and its platforms
as lowering rules get them (`ctx.module_context`), and that MLIR's Python objects copy operations into other modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func
from jax.interpreters import ad, batching, mlir

from ..errors import wrong


@dataclass(frozen=True)
class Program:
    """A module as functions of StableHLO that a program of JAX calls, each with names that no other has.

    `name` is the entry; equal names are equal texts. `platform` is where its kernels run, if it calls any.
    """

    name: str
    text: str = field(repr=False, compare=False)
    results: tuple[ShapedArray, ...] = field(repr=False, compare=False)
    kernels: tuple[str, ...] = field(default=(), compare=False)
    platform: str | None = None


call_p = Primitive("halite_call")
call_p.multiple_results = True


def call(program: Program, *operands: Any) -> Sequence[Any]:
    """The results of a program on one device, given the operands in order."""
    return call_p.bind(*operands, program=program)  # type: ignore[no-any-return]


@call_p.def_abstract_eval  # type: ignore[untyped-decorator]
def _abstract(*_: Any, program: Program) -> tuple[ShapedArray, ...]:
    return program.results


@call_p.def_impl  # type: ignore[untyped-decorator]
def _run(*operands: Any, program: Program) -> Any:
    return jax.jit(lambda *operands: call(program, *operands))(*operands)


def _lower(ctx: Any, *operands: Any, program: Program) -> Any:
    module = ctx.module_context
    if program.kernels and any(platform != program.platform for platform in module.platforms):
        _refuse_platform(program, module.platforms)
    if program.name not in module.symbol_table:
        functions = ir.Module.parse(program.text, context=module.module.context)
        for function in functions.body.operations:
            own = function.operation.clone()
            module.module.body.append(own)
            module.symbol_table.insert(own)
    return func.CallOp(module.symbol_table[program.name], list(operands)).results  # type: ignore[call-arg, arg-type]


mlir.register_lowering(call_p, _lower)


def _no_derivative(*_: Any, **__: Any) -> Any:
    raise wrong(
        "a program of Halite has no derivative in JAX: it is compiled already",
        help='take gradients from `halite.jax.grads(bundle)`, of a bundle compiled with `roles=["grads"]`',
    )


def _no_batch(*_: Any, **__: Any) -> Any:
    raise wrong(
        "a program of Halite cannot be mapped by `jax.vmap`: it takes its batch whole",
        help="compile it for the batch that it is to take",
    )


ad.primitive_jvps[call_p] = _no_derivative
batching.primitive_batchers[call_p] = _no_batch


def _refuse_platform(program: Program, platforms: Sequence[str]) -> None:
    kernels = ", ".join(f"`{kernel}`" for kernel in program.kernels)
    raise wrong(
        f"the program calls kernels of the platform `{program.platform}`, and JAX compiles it for {list(platforms)}",
        notes=[f"it calls {kernels}"],
        help='compile the model for the target `cpu`, or pass `kernels="decompose"`, which runs what they compute instead',
    )
