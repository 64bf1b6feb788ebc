"""The manifest as dataclasses is the manifest that the compiler writes."""

from __future__ import annotations

import dataclasses
import json
import warnings
from typing import Any

import pytest

import halite
from halite import manifest

SMALL = {"layers": 2, "hidden": 128, "heads": 8, "kv_heads": 4, "ffn": 256, "vocab": 512, "seq": 128}
# Presets with what makes them small, targets, layouts, and what else manifests may have.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("tiny", {}),
    ("tiny", {"target": "trn1"}),
    ("tiny", {"precision": "bf16-sr", "parallel": {"data": 2, "tensor": 2}}),
    ("tiny", {"precision": "fp16", "accumulate": 4}),
    ("hlat-7b", SMALL),
    ("hlat-7b", {**SMALL, "target": "trn2", "parallel": {"data": 4}}),
    ("hlat-7b-paper", {**SMALL, "target": "trn1", "accumulate": 1}),
    ("hlat-70b", {**SMALL, "parallel": {"pipeline": 1, "tensor": 2, "data": 2}}),
    ("tiny", {"accumulate": 4, "parallel": {"pipeline": 2}}),
]


def compiled(preset: str, overrides: dict[str, Any]) -> halite.Bundle:
    roles = ["train_step", "forward", "grads"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", halite.HaliteWarning)
        return halite.compile(preset, roles=roles, **overrides)


def raw(value: Any, sub_axes: list[tuple[str, int]]) -> Any:
    """What a dataclass says, as JSON would, which numbers the sub-axes of the mesh."""
    if isinstance(value, manifest.Digit):
        return [sub_axes.index((value.axis, value.part)), value.size, value.stride]
    if isinstance(value, manifest.Action):
        return str(value)
    if dataclasses.is_dataclass(value):
        found = {field.name.rstrip("_"): raw(getattr(value, field.name), sub_axes) for field in dataclasses.fields(value)}
        found.pop("json", None)
        return found
    if isinstance(value, manifest.Mesh):
        return [{"name": name, "size": value[name]} for name in value.axis_names]
    if isinstance(value, tuple | list):
        return [raw(item, sub_axes) for item in value]
    if isinstance(value, dict):
        return {key: raw(item, sub_axes) for key, item in value.items()}
    return value


def assert_says(said: Any, written: Any, path: str = "manifest") -> None:
    """What was written is said; what is said beyond that is empty, as what was left out means."""
    if isinstance(written, str) and isinstance(said, dict):
        # A port that is its buffer is written as its name.
        assert (said["name"], said["role"]) == (written, "buffer"), path
    elif isinstance(written, dict):
        for key, value in written.items():
            if path.endswith("modules.*") and key == "decompositions":
                assert said["kernels"] == [kernel["name"] for kernel in value]
            else:
                assert key in said, f"{path} does not say `{key}`"
                assert_says(said[key], value, f"{path}.{key}")
        left = {key: value for key, value in said.items() if key not in written and key != "kernels"}
        assert all(not value or (key, value) == ("copies", 1) for key, value in left.items()), f"{path}: {left}"
    elif isinstance(written, list):
        assert len(said) == len(written)
        for own, other in zip(said, written, strict=True):
            assert_says(own, other, f"{path}.*")
    else:
        assert said == written, path


@pytest.mark.parametrize("preset, overrides", CASES, ids=str)
def test_nothing_that_a_manifest_says_is_lost(preset: str, overrides: dict[str, Any]) -> None:
    said = compiled(preset, overrides).manifest
    assert said.version == manifest.VERSION
    # All sizes of these cases are powers of two.
    sub_axes = [(name, part) for name, size in said.mesh.items() for part in range(size.bit_length() - 1)]
    assert_says(raw(said, sub_axes), json.loads(said.json))
    assert manifest.parse(said.json) == said


def test_the_cases_have_all_that_there_is() -> None:
    """Otherwise what no case has would be held to nothing."""
    all = [compiled(*case).manifest for case in CASES]
    buffers = [buffer for one in all for buffer in one.buffers]
    ports = [port for one in all for module in one.modules for port in (*module.inputs, *module.outputs)]
    assert any(one.launch for one in all) and any(one.mesh for one in all) and any(one.platform for one in all)
    packings = [buffer.packing for buffer in buffers if buffer.packing]
    shardings = [buffer.sharding or () for buffer in buffers] + [port.sharding or () for port in ports]
    assert packings and {type(part) for packing in packings for part in packing.parts} == {manifest.Part}
    digits = {type(digit) for sharding in shardings for digits in sharding for digit in digits}
    assert {type(packing) for packing in packings} == {manifest.Packing} and digits == {manifest.Digit}
    assert any(buffer.content for buffer in buffers) and any(buffer.of for buffer in buffers)
    assert any(port.ranges for port in ports) and any(port.alias is not None for port in ports)
    assert any(module.kernels and module.estimate for one in all for module in one.modules)


def test_axes_are_asked_by_name() -> None:
    said = compiled("tiny", {"parallel": {"data": 2, "tensor": 4}, "batch": 4, "heads": 4, "kv_heads": 4}).manifest
    assert (said.mesh["data"], said.mesh["tensor"], said.mesh.axis_names, said.ranks) == (2, 4, ("data", "tensor"), 8)
    with pytest.raises(KeyError, match="no axis `expert`; its axes are `data`, `tensor`"):
        said.mesh["expert"]
    axes = {buffer.name: buffer.axes for buffer in said.buffers}
    assert axes["tokens"] == (("data",), ())
    assert any(("tensor",) in each for each in axes.values())
    step = said.module("train_step")
    assert step and {port.name: port.axes for port in step.inputs}["tokens"] == (("data",), ())
    assert compiled("tiny", {}).manifest.mesh == {} and compiled("tiny", {}).manifest.ranks == 1


def test_what_is_not_known_is_refused() -> None:
    text = json.loads(compiled("tiny", {}).manifest.json)
    changes: list[dict[str, Any]] = [{"new": 1}, {"version": 5}, {"buffers": [{"name": "x"}]}, {"statistics": {}}]
    for change in changes:
        with pytest.raises(halite.Error):
            manifest.parse(json.dumps({**text, **change}))


def test_stages_are_told_what_to_do() -> None:
    text = json.loads(compiled("tiny", {"accumulate": {"steps": 3, "form": "two"}}).manifest.json)
    assert text["schedule"] == [["run grad_step 0..3", "run update_step"]]
    stages = [["run grad_step 0..3", "send up 2", "run update_step"], ["receive up 2", "send once"]]
    transfers = [{"name": "up", "from": 0, "to": 1, "values": ["x"]}]
    said = manifest.parse(json.dumps({**text, "schedule": stages, "transfers": transfers}))
    assert said.schedule[0] == (
        manifest.Action("run", "grad_step", range(3)),
        manifest.Action("send", "up", range(2, 3)),
        manifest.Action("run", "update_step"),
    )
    assert [[str(action) for action in actions] for actions in said.schedule] == stages
    assert said.transfers == (manifest.Transfer("up", 0, 1, ("x",)),)
    assert said.micro_batches == 3
    for wrong in ["run", "wait x", "run grad_step 0..", "run grad_step x", "run grad_step 0 1", 3]:
        with pytest.raises(halite.Error, match="does not follow the schema"):
            manifest.parse(json.dumps({**text, "schedule": [[wrong]]}))
