"""Programs that other frameworks made, as models."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import _native
from .errors import wrong
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
        self.text = text
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program with its roles to a file: a model for `halite compile`, for recipes and for `halite.compile`.

        A name that ends in `.mlir` has its text, one that ends in `.pb` a serialized HLO module. Raises `halite.Error` for another.
        """
        ending = Path(path).suffix
        if ending == ".mlir":
            Path(path).write_text(_with_attributes(self.text, self._native.roles()), encoding="utf-8")
        elif ending == ".pb":
            Path(path).write_bytes(self._native.hlo())
        else:
            raise wrong(f"`{os.fspath(path)}` ends neither in `.mlir` nor in `.pb`", help=f"name it `{Path(path).stem}.mlir`")

    @property
    def ir(self) -> str:
        """Its functions as IR text, before all passes."""
        return self._native.ir()

    def __repr__(self) -> str:
        return f"<halite.{type(self).__name__} {self.name}>"


def _with_attributes(text: str, attributes: Sequence[tuple[str, str]]) -> str:
    """A text of StableHLO with these frontend attributes of its module, in the place of those that it has by these keys."""
    keys = "|".join(re.escape(key) for key, _ in attributes)
    text = re.sub(rf'"(?:{keys})" = "[^"]*"\s*,?\s*', "", text)
    pairs = ", ".join(f'"{key}" = "{value}"' for key, value in attributes)
    own = "mhlo.frontend_attributes = {"
    head = re.search(r"^module\b[^{\n]*", text, re.MULTILINE)
    if head is None:
        return f"module attributes {{{own}{pairs}}}}} {{\n{text}\n}}\n"
    start, end = text[: head.end()].rstrip(), text[head.end() :]
    before, there, after = end.partition("func.func")[0].partition(own)
    if there:
        between = "" if after.lstrip().startswith("}") else ", "
        return f"{start} {before}{there}{pairs}{between}{end[len(before) + len(there) :]}"
    if start.endswith("attributes"):
        return f"{start} {{{own}{pairs}}}, {end[1:]}"
    return f"{start} attributes {{{own}{pairs}}}}} {end}"
