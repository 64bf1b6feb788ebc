"""What tests share."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import halite

# JAX is an extra, and needs Python 3.11.
collect_ignore = [] if find_spec("jax") else ["jax"]

MODEL = """\
model bigram {
  config { batch = 2; seq = 8; vocab = 16; hidden = 4 }
  fn main(tokens: s32[batch, seq + 1]) {
    param table: [vocab, hidden] = normal(0.02)
    param head: [vocab, hidden] = normal(0.02)
    x = embedding(tokens[:, :seq], table)
    logits = linear(x, head)
    output logits
    loss, count = cross_entropy(logits, tokens[:, 1:])
    return loss, count
  }
}
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Tests start in an empty folder, which is theirs."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture(scope="session")
def tiny() -> halite.Bundle:
    return halite.compile("tiny")


@pytest.fixture(scope="session")
def model() -> halite.Text:
    return halite.Text(MODEL, name="bigram")
