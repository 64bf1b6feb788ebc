"""Models that take anything but text: built with metrics and further losses, trained on mappings of arrays and on files of examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halite
from halite import Model
from halite.initial import normal

WIDTH, CLASSES, STEPS = 6, 3, 30

Batch = dict[str, np.ndarray]

TEXT = """\
model classifier {
  causal = false
  config { batch = 4 }
  fn main(x: f32[batch, 6], labels: s32[batch]) {
    param weight: [3, 6] = normal(0.5)
    logits = linear(x, weight)
    output logits
    loss, count = cross_entropy(logits, labels)
    metric accuracy = sum(convert(argmax(logits, -1) == labels, float)), over = count
    metric right = sum(convert(argmax(logits, -1) == labels, float))
    loss size = mean(logits ** 2), weight = 0.001
    return loss, count
  }
}
"""


def classifier() -> halite.BuiltModel:
    m = Model("classifier")
    m.bidirectional()
    m.setting("batch", 4)
    x, labels = m.batch("x", "f32", [4, WIDTH]), m.batch("labels", "s32", [4])
    logits = m.linear(x, m.param("weight", [CLASSES, WIDTH], init=normal(0.5)))
    m.output("logits", logits)
    loss, count = m.cross_entropy(logits, labels)
    right = m.sum(m.convert(m.argmax(logits, -1) == labels, "f32"))
    m.metric("accuracy", right, over=count)
    m.metric("right", right)
    m.loss("size", m.mean(logits**2), weight=0.001)
    return m.finish(loss, count)


def examples(count: int, seed: int) -> Batch:
    drawn = np.random.default_rng(seed)
    x = drawn.normal(size=(count, WIDTH)).astype(np.float32)
    weights = np.random.default_rng(0).normal(size=(CLASSES, WIDTH))
    return {"x": x, "labels": (x @ weights.T).argmax(1).astype(np.int32)}


def cut(batch: Batch, rows: int) -> list[Batch]:
    return [{name: array[at : at + rows] for name, array in batch.items()} for at in range(0, len(batch["x"]), rows)]


def metrics(folder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(folder, "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


RATE: dict[str, Any] = {"optimizer": {"adamw": {"lr": 0.1}}}
OPTIONS: dict[str, Any] = {"steps": STEPS, "eval_every": 10, "seed": 1}


def test_mappings_and_files_train_the_same() -> None:
    train, held_out = examples(40, 1), examples(24, 2)
    halite.save_tensors("train.safetensors", train)
    halite.save_tensors("held.safetensors", {**held_out, "labels": held_out["labels"].astype(np.int64)})
    table = {"shuffle": False, "sources": [{"files": ["train.safetensors"]}], "held_out": [{"files": ["held.safetensors"]}]}
    by_file = halite.train(classifier(), table, output="file", **OPTIONS, **RATE)
    bundle = halite.compile(classifier(), **RATE)
    for rows in (4, 7, 40):
        halite.train(bundle, cut(train, rows), held_out=cut(held_out, rows), output=f"own{rows}", **OPTIONS)
        assert metrics(f"own{rows}") == metrics("file"), rows
    first, last = by_file.evaluations[0], by_file.evaluations[-1]
    assert last.loss < first.loss and last.metrics["accuracy"] > 0.6
    assert last.counted == 24 and last.metrics["right"] == pytest.approx(24 * last.metrics["accuracy"])
    update = by_file.updates[-1].metrics
    assert list(update) == ["loss", "grad_norm", "learning_rate", "count", "accuracy", "right", "size"]
    assert update["right"] == 4 * update["accuracy"]


def test_metrics_are_those_of_numpy() -> None:
    """Of an evaluation, whose weights are known, over batches of different counts."""
    bundle = halite.compile(halite.Text(TEXT), precision="fp64")
    data = examples(12, 3)
    data["labels"][:5] = -100
    step = halite.runtime.TrainStep(bundle)
    step.init(seed=2)
    logits = data["x"].astype(np.float64) @ step.state()["weight"].T
    history = halite.train(bundle, [data], held_out=[data], steps=1, seed=2, output="run")
    found = history.evaluations[0]
    counted = data["labels"] >= 0
    right = ((logits.argmax(1) == data["labels"]) & counted).sum()
    assert found.counted == counted.sum() and found.metrics["right"] == right
    assert found.metrics["accuracy"] == pytest.approx(right / counted.sum(), rel=1e-12)
    # A micro-batch weighs as much as the loss counts in it.
    means, counts = (logits**2).reshape(3, -1).mean(1), counted.reshape(3, 4).sum(1)
    size = (means * counts).sum() / counts.sum()
    assert found.metrics["size"] == pytest.approx(size, rel=1e-12)
    shifted = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    entropy = -shifted[counted, data["labels"][counted]].mean()
    assert found.loss == pytest.approx(entropy + 0.001 * size, rel=1e-12)


@pytest.mark.parametrize("at", [1, 13])
def test_a_run_on_files_goes_on_where_it_was(at: int) -> None:
    halite.save_tensors("train.safetensors", examples(40, 1))
    table = {"sources": [{"files": ["train.safetensors"], "part": "0..0.9"}], "held_out": [{"files": ["train.safetensors"], "part": "0.9..1"}]}
    halite.train(classifier(), table, output="whole", **OPTIONS)
    halite.train(classifier(), table, output="parts", **{**OPTIONS, "steps": at})
    halite.train(classifier(), table, output="parts", **OPTIONS)
    whole, parts = (halite.load_tensors(Path(folder, "state.safetensors")) for folder in ("whole", "parts"))
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def bad() -> Iterator[tuple[Any, str]]:
    good = examples(4, 1)
    yield good["x"], "is no mapping, and the model takes `x`, `labels`"
    yield {"x": good["x"]}, "has `x`, and the model takes `x`, `labels`"
    yield {**good, "y": good["x"]}, "has `x`, `labels`, `y`, and the model takes `x`, `labels`"
    yield {**good, "x": good["x"][:, 1:]}, "is `float32[4, 5]`, expected `[rows, 6]`"
    yield {**good, "x": good["labels"]}, "is `int32[4]`, expected `[rows, 6]`"
    yield {**good, "labels": good["x"][:, 0]}, "is `float32`, expected `int32`"
    yield {**good, "labels": good["labels"] > 1}, "is `bool`, expected `int32`"
    yield {**good, "x": np.full((4, WIDTH), "1.0")}, "is `<U3`, expected `float32`"
    yield {**good, "labels": np.full(4, 2**40)}, "which `int32` does not hold"
    yield {**good, "labels": good["labels"][:3]}, "has 4 of `x`, 3 of `labels`"
    yield {name: array[:0] for name, array in good.items()}, "has 0 of `x`, 0 of `labels`"
    yield {**good, "labels": np.array([0, 1, 3, 0])}, "`labels` holds 3 at [2], the model takes 0 to 2 there"


@pytest.mark.parametrize(("batch", "message"), list(bad()))
def test_what_the_model_does_not_take_is_refused(batch: Any, message: str) -> None:
    with pytest.raises(halite.Error) as raised:
        halite.train(classifier(), [batch], steps=1, output="run")
    assert message in str(raised.value)
    assert raised.value.diagnostics[0].help


def test_text_is_refused_with_what_to_do() -> None:
    Path("book.txt").write_text("a text " * 100)
    with pytest.raises(halite.Error) as raised:
        halite.train(classifier(), {"sources": [{"files": ["book.txt"]}]}, steps=1)
    assert "text gives sequences of tokens, the model takes `x` and `labels`" in str(raised.value)
    assert "safetensors" in str(raised.value)


@pytest.mark.parametrize("name", ["loss", "x", "tokens", "a b", "logits"])
def test_names_of_metrics_are_their_own(name: str) -> None:
    m = Model("m")
    x = m.batch("x", "f32", [4, WIDTH])
    m.output("logits", x)
    m.metric(name, m.sum(x))
    with pytest.raises(halite.Error):
        m.finish(m.sum(x * m.param("w", [WIDTH], init=normal(1))), m.sum(x))


def test_examples_that_make_no_whole_batch_are_told() -> None:
    data = [examples(8, 1)]
    with pytest.warns(halite.HaliteWarning, match="the last 2 held-out examples are left out: they are less than a batch of 4"):
        history = halite.train(classifier(), data, held_out=[examples(26, 2)], steps=1, output="more")
    assert [each.counted for each in history.evaluations] == [24, 24]
    with pytest.warns(halite.HaliteWarning, match="the 3 held-out examples are repeated until there are 4"):
        history = halite.train(classifier(), data, held_out=[examples(3, 2)], steps=1, output="less")
    assert [each.counted for each in history.evaluations] == [4, 4]


def test_labels_that_all_do_not_count_are_told() -> None:
    nothing = {**examples(4, 2), "labels": np.full(4, -100)}
    with pytest.raises(halite.Error, match="the loss counts nothing in the held-out data"):
        halite.train(classifier(), [examples(8, 1)], held_out=[nothing], steps=1, output="run")
