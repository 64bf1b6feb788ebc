"""Operations and interfaces of MLIR as plain data, in which names of values and places have no part."""

import dataclasses


@dataclasses.dataclass
class Operation:
    """One operation. What it reads is `(key, number)`: the key of the operation that gave the value, and which result it is."""

    name: str
    operands: list
    operand_types: list
    types: list
    attributes: dict
    inner: tuple = ()


@dataclasses.dataclass
class Interface:
    """What is said of a function besides its operations, and of its module where it is the entry."""

    arguments: list  # Each its type and attributes.
    results: list
    module: dict = dataclasses.field(default_factory=dict)
    aliases: dict = dataclasses.field(default_factory=dict)  # Parameter to result.

    def key(self):
        each = lambda items: tuple((kind, tuple(sorted(said.items()))) for kind, said in items)
        return each(self.arguments), each(self.results), tuple(sorted(self.module.items())), tuple(sorted(self.aliases.items()))


def attributes(owner):
    """The attributes of an operation by name, as text. Iterating gives names or, in older versions, names with attributes."""
    names = [named if isinstance(named, str) else named.name for named in owner]
    return {name: str(owner[name]) for name in names}


def element(kind):
    """`f32` of `tensor<4x8xf32>`."""
    return kind.removeprefix("tensor<").removesuffix(">").rsplit("x", 1)[-1]
