"""A run that takes a moment: its recipe, and the text that it trains on, in the current folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

RECIPE = """\
halite = 1
batch = 2
seq = 8
[model]
name = "llama"
config = { vocab = 256, hidden = 16, heads = 2, kv_heads = 1, layers = 1, ffn = 16 }
[optimizer.adamw]
lr = 1e-2
[train]
eval_every = 5
[data]
sources = [{ files = ["book.txt"], part = "0..0.8" }]
held_out = [{ files = ["book.txt"], part = "0.8..1", name = "end" }]
"""


def text_files(words: list[str]) -> None:
    """Writes `book.txt`, of these words at random, and `recipe.toml`."""
    drawn = np.random.default_rng(1).choice(words, 800)
    Path("book.txt").write_text(" ".join(drawn))
    Path("recipe.toml").write_text(RECIPE)
