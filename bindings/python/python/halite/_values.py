"""Values of arguments, refused where they are of another kind."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index


def whole(name: str, value: object, *, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number in a range."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"`{name}` is a whole number, not a `{type(value).__name__}`") from None
    if not least <= number <= most:
        raise ValueError(f"`{name}` is {number}, expected a whole number from {least} to {most}")
    return number


def names(name: str, value: Iterable[str], example: str) -> list[str]:
    """A list of names, at least one."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"`{name}` is a list of names, such as `{example}`, not a `{type(value).__name__}`")
    listed = list(value)
    if not listed:
        raise ValueError(f"`{name}` is an empty list: leave it out, or name some, such as `{example}`")
    for one in listed:
        if not isinstance(one, str):
            raise TypeError(f"`{name}` is a list of names, such as `{example}`, and has a `{type(one).__name__}`")
    return listed
