"""Text that a model goes on with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from . import _native
from ._learned import Learnt, Tensors, learned
from ._quiet import quiet_xla
from ._values import whole
from .progress import ProgressLike, watched

__all__ = ["generate"]


def generate(
    run_or_bundle: Learnt,
    prompt: str | Sequence[int],
    /,
    *,
    state: Tensors | None = None,
    weights: Tensors | None = None,
    tokenizer: str | os.PathLike[str] | None = None,
    tokens: int = 100,
    temperature: float = 1.0,
    top_p: float = 1.0,
    greedy: bool = False,
    seed: int = 0,
    samples: int = 1,
    stop: str | Iterable[str] = (),
    plugin: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> list[str]:
    """The texts that a model goes on with after `prompt`, which is not part of them, as many as `samples`: those of `halite generate`.

    The model is a `Run`, a `Bundle`, a path or what `compile` takes, with `state` or `weights`, as in `evaluate`. The prompt is a text, or token
    ids, which are taken as they are. `tokenizer` is `"bytes"` or the
    path of a `tokenizer.json`, by default that of the recipe.

    A text has at most so many `tokens`. It ends before one of the texts `stop`, and before the token that ends documents. Logits are divided
    by `temperature`, and a token is drawn from the most probable ones that have the probability `top_p` together; `greedy` takes the
    most probable one. Equal inputs and seeds give equal texts. Each token is computed from the last `seq` tokens anew: this is to
    look at what was learned, not to serve a model.

    Raises `Error` where the model cannot generate or the tokenizer is not its own; `TypeError` and `ValueError` for keywords of another
    kind or range.
    """
    ids = None if isinstance(prompt, str) else _ids(prompt)
    drawn = {"temperature": (temperature, 1.0), "top_p": (top_p, 1.0), "seed": (seed, 0), "samples": (samples, 1)}
    for keyword, (given, default) in drawn.items():
        if greedy and given != default:
            raise TypeError(f"`greedy` draws nothing: leave `{keyword}` or `greedy` out")
    wish = {
        "prompt": prompt if ids is None else "",
        "ids": ids,
        "tokens": whole("tokens", tokens, most=2**32 - 1),
        "temperature": 0.0 if greedy else _number("temperature", temperature),
        "top_p": _number("top_p", top_p),
        "seed": whole("seed", seed),
        "samples": whole("samples", samples, least=1, most=2**32 - 1),
        "stop": _texts(stop),
    }
    name, bundle, options = learned(run_or_bundle, state, weights, tokenizer, plugin, progress)
    with watched(progress, f"generating with {name}") as tell, quiet_xla():
        return _native.generate(bundle, options, wish, tell)


def _ids(prompt: object) -> list[int]:
    """Token ids of a list or of an array of one dimension."""
    if not isinstance(prompt, Iterable) or isinstance(prompt, bytes):
        raise TypeError(f"`prompt` is a text, or token ids, not a `{type(prompt).__name__}`")
    return [whole("prompt", id, most=2**31 - 1) for id in prompt]


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is a number, not a `{type(value).__name__}`") from None


def _texts(stop: str | Iterable[str]) -> list[str]:
    texts = [stop] if isinstance(stop, str) else list(stop)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"`stop` are texts, and has a `{type(text).__name__}`")
        if not text:
            raise ValueError("`stop` has an empty text, which is everywhere: leave it out")
    return texts
