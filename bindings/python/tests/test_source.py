"""What is compiled: values of Python as overrides and as recipes."""

from __future__ import annotations

import inspect as python
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halite
from halite.overrides import recipe_text, settings
from halite.source import Input

VALUES: list[tuple[Any, str]] = [
    (3, "3"),
    (np.int32(3), "3"),
    (1e-3, "0.001"),
    (np.float32(0.5), "0.5"),
    (float("inf"), "inf"),
    (True, "true"),
    ("trn1", '"trn1"'),
    ("3", '"3"'),
    ('a "quoted" \\ ü\n\x7f', '"a \\"quoted\\" \\\\ ü\\n\\u007f"'),
    ([0.9, 0.95], "[0.9, 0.95]"),
    (("a", 'b"c'), '["a", "b\\"c"]'),
    ([], "[]"),
    ([{"budget": "9 GiB"}], '[{ budget = "9 GiB" }]'),
    ([{"name": "a", "params": ["*.bias"], "deep": [{"a b": [1]}]}], '[{ name = "a", params = ["*.bias"], deep = [{ "a b" = [1] }] }]'),
]


@pytest.mark.parametrize("value, toml", VALUES)
def test_values_are_written_as_toml(value: Any, toml: str) -> None:
    assert list(settings({"key": value})) == [f"key={toml}"]


def test_values_reach_the_recipe() -> None:
    group = {"name": "plain", "params": ["*norm.weight"], "weight_decay": 0.0}
    bundle = halite.compile(
        "tiny",
        roles=["train_step"],
        batch=np.int64(2),
        optimizer={"adamw": {"betas": (0.8, 0.9)}, "group": [group]},
        recompute=[{"budget": "9 GiB"}],
        **{"parallel.data": 1},  # type: ignore[arg-type]
    )
    recipe = bundle.manifest.recipe
    assert recipe["batch"] == 2
    assert recipe["optimizer"]["adamw"]["betas"] == [0.8, 0.9]
    assert recipe["optimizer"]["group"][0]["name"] == "plain"
    assert "9" in str(recipe["recompute"])


def test_no_keyword_of_ours_is_a_key_of_recipes() -> None:
    """A key that a function took for itself could not be overridden, but below `model.config`."""
    keys = set(halite.compile("tiny").manifest.recipe)
    for function in (halite.load, halite.compile, halite.check, halite.verify, halite.inspect):
        own = [name for name, at in python.signature(function).parameters.items() if at.kind is at.KEYWORD_ONLY]
        assert not keys & set(own), function


def test_a_key_of_the_model_may_be_called_as_a_keyword(model: halite.Text) -> None:
    text = model.text.replace("hidden", "roles")
    bundle = halite.compile(halite.Text(text), roles=["train_step"], model={"config": {"roles": 8}})
    assert bundle.manifest.model.config["roles"] == 8


def test_a_recipe_is_a_mapping_a_text_or_a_file() -> None:
    config = {"vocab": 64, "hidden": 32, "heads": 2, "kv_heads": 2, "layers": 1, "ffn": 64}
    mapping = {"model": {"name": "llama", "config": config}, "batch": 2, "seq": 16, "optimizer": {"adamw": {"lr": 1e-3}}}
    text = recipe_text(mapping)
    Path("mine.toml").write_text(text)
    inputs: list[Input] = [halite.Recipe(mapping), halite.Recipe(text, name="other"), "mine.toml", Path("mine.toml")]
    sums = {halite.compile(input).manifest.modules[0].sha256 for input in inputs}
    assert len(sums) == 1


@pytest.mark.parametrize("name", ["mine", 'a "b" \\ ü', "?"])
def test_a_model_may_have_any_name(name: str, model: halite.Text) -> None:
    source = halite.load(halite.Text(model.text, name=name))
    assert source.name == name
    assert halite.compile(source).manifest.statistics.parameters == 2 * 16 * 4


def test_a_folder_of_the_name_of_a_preset_is_not_in_its_way() -> None:
    Path("tiny").mkdir()
    assert halite.load("tiny").name == "tiny"
