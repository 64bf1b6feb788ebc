"""How parameters start."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Init", "constant", "normal", "ones", "zeros"]


@dataclass(frozen=True)
class Init:
    """How a parameter starts; see `zeros`, `ones`, `constant` and `normal`."""

    kind: str
    value: float = 0.0


zeros = Init("zeros")
ones = Init("ones")


def constant(value: float) -> Init:
    """The same number everywhere."""
    return Init("constant", value)


def normal(std: float) -> Init:
    """Samples of the normal distribution with mean 0 and this standard deviation."""
    return Init("normal", std)
