"""Programs that other frameworks made, as models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import _native
from .initial import Init, zeros

__all__ = ["Input", "Output", "Program"]


@dataclass(frozen=True)
class Input:
    """A parameter of a program: its name, its role, and how a weight starts where no state is given.

    `batch` is data of one step, `weight` is trained, `frozen` is a weight that no update changes. In the name of a weight, a part that is a
    number is the place in a list of layers, as in `layers.0.mlp.weight`.
    """

    name: str
    role: Literal["batch", "weight", "frozen"] = "weight"
    init: Init = zeros


@dataclass(frozen=True)
class Output:
    """A result of a program: its name and its role.

    `loss` is what is minimized, a scalar: a sum over the elements of the batch, and `count` their number; without one, the loss is a mean
    already. `shown` are values that the model shows, such as logits.
    """

    name: str
    role: Literal["loss", "count", "shown"] = "shown"


class Program:
    """The forward of a model in StableHLO, with the roles of its parameters and results in their order: what `halite.compile` takes.

    With `causal`, the model is held to reading no later positions. `halite.jax.model` makes one of a function of JAX.

    Raises `halite.Error` where the roles do not fit, or the program has what no model has.
    """

    def __init__(
        self, text: str, inputs: Sequence[Input], outputs: Sequence[Output], *, name: str = "program", causal: bool = False
    ) -> None:
        given = [(item.name, item.role, (item.init.kind, [float(number) for number in item.init.numbers])) for item in inputs]
        results = [(item.name, item.role) for item in outputs]
        self._native = _native.Program(name, text, given, results, causal)
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._native.name

    @property
    def stacks(self) -> dict[str, list[str]]:
        """The weights of which a loop over layers reads a row in each round, with the names of their rows: these are weights of the model."""
        return dict(self._native.stacks())

    @property
    def ir(self) -> str:
        """Its functions as IR text, before all passes."""
        return self._native.ir()

    def __repr__(self) -> str:
        return f"<halite.{type(self).__name__} {self.name}>"
