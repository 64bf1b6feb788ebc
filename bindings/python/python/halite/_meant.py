"""Keywords that were meant where an override is known to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from .errors import Error, wrong

__all__ = ["meant"]


@contextmanager
def meant(function: Callable[..., Any], overrides: Mapping[str, Any]) -> Iterator[None]:
    """Errors about an override that is nearly a keyword of the function say so."""
    try:
        yield
    except Error as error:
        taken = [name for name, each in signature(function).parameters.items() if each.kind is Parameter.KEYWORD_ONLY]
        diagnostics = list(error.diagnostics)
        for key in overrides:
            near = get_close_matches(key, taken, 1, 0.7)
            about = [at for at, each in enumerate(diagnostics) if f"`{key}`" in each.message]
            if near and about:
                name = f"halite.{function.__name__}"
                said = f"`{key}` is no keyword of `{name}`, and no key of the recipe or of the model"
                (diagnostics[about[0]],) = wrong(said, help=f"did you mean `{near[0]}`?", code=error.code).diagnostics
        if tuple(diagnostics) == error.diagnostics:
            raise
        raise type(error)(diagnostics) from None
