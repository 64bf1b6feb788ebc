"""Bundles: what is in them, and the tensors that go with them."""

from __future__ import annotations

import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import halite
from halite.tensors import dtype_of


def same(a: halite.Tensors, b: halite.Tensors) -> bool:
    """Whether all bits are."""
    return a.keys() == b.keys() and all(
        a[name].dtype == b[name].dtype and a[name].shape == b[name].shape and a[name].tobytes() == b[name].tobytes() for name in a
    )


def test_modules_are_there_in_every_form() -> None:
    bundle = halite.compile("tiny", keep_ir=True, explain=True)
    for module in bundle.manifest.modules:
        assert len(bundle.hlo(module.name)) > 1000
        assert bundle.hlo_text(module.name).startswith(f"HloModule llama_{module.name}")
        assert bundle.stablehlo(module.name).startswith(f"module @llama_{module.name} ")
        assert "func @" in bundle.ir(module.name)
    assert any(remark.taken and remark.rule == "swiglu" for remark in bundle.remarks)
    assert "swiglu" in str(next(remark for remark in bundle.remarks if remark.rule == "swiglu"))


def test_a_bundle_that_is_read_is_the_one_that_was_written(tiny: halite.Bundle) -> None:
    tiny.write("bundle")
    read = halite.Bundle.read(Path("bundle"))
    assert read.manifest == tiny.manifest
    assert all(read.hlo(module.name) == tiny.hlo(module.name) for module in tiny.manifest.modules)


def test_kernels_have_decompositions() -> None:
    bundle = halite.compile("tiny", target="trn1", roles=["train_step"])
    (module,) = bundle.manifest.modules
    assert module.kernels
    assert "custom-call" in bundle.hlo_text("train_step")
    assert "custom-call" not in bundle.hlo_text("train_step", decomposed=True)


def test_the_state_of_a_seed(tiny: halite.Bundle) -> None:
    state = tiny.init()
    assert same(state, tiny.init(seed=tiny.manifest.recipe["train"]["seed"]))
    assert not same(state, tiny.init(seed=12345))
    assert state["step"] == 0 and state["step"].shape == ()
    state["step"][...] = 3  # It is memory of its own.
    for name, array in state.items():
        kind = name.split(".", 1)[0]
        assert kind in ("model", "lm_head", "m", "v", "step"), name


def test_a_state_starts_from_weights(tiny: halite.Bundle) -> None:
    state = tiny.init(seed=7)
    weights = tiny.convert(state, weights_only=True)
    assert set(weights) < set(state) and "step" not in weights
    halite.save_tensors("model.safetensors", weights)
    assert same(tiny.init(weights=weights), state)
    assert same(tiny.init(weights="."), state)
    narrow = tiny.init(weights=tiny.convert(weights, dtype="bf16"))
    name = "lm_head.weight"
    assert (narrow[name] == weights[name].astype(ml_dtypes.bfloat16).astype(np.float32)).all()


def test_packing_and_back_changes_no_bit(tiny: halite.Bundle) -> None:
    state = tiny.init(seed=7)
    stored = tiny.pack(state)
    assert set(stored) == {buffer.name for buffer in tiny.manifest.buffers if buffer.is_saved}
    assert all(stored[buffer.name].shape == buffer.shape for buffer in tiny.manifest.buffers if buffer.is_saved)
    assert len(stored) < len(state)
    assert same(tiny.unpack(stored), state)
    assert same(tiny.convert(state, to="bundle"), stored)
    assert same(tiny.convert(stored), state)


ALL = ["pred", "bf16", "f16", "f32", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]


@pytest.mark.parametrize("shard_bytes", [None, 64])
def test_every_element_type_is_read_as_it_was_written(shard_bytes: int | None) -> None:
    tensors: halite.Tensors = {name: np.array([[0, 1, 1], [0, 0, 1]]).astype(dtype_of(name)) for name in ALL}
    tensors |= {"scalar": np.array(1.5, np.float32), "empty": np.zeros((0, 3), np.float32)}
    tensors["turned"] = np.arange(6, dtype=np.int32).reshape(2, 3).T
    tensors["big"] = np.arange(3, dtype=">i4")
    path = halite.save_tensors("t.safetensors", tensors, shard_bytes=shard_bytes)
    assert path.name == ("t.safetensors" if shard_bytes is None else "t.safetensors.index.json")
    back = halite.load_tensors(path)
    tensors["big"] = tensors["big"].astype(np.int32)
    assert same({name: back[name] for name in tensors}, tensors) and back.keys() == tensors.keys()


def test_equal_tensors_give_equal_bytes() -> None:
    tensors = {"b": np.ones(3), "a": np.zeros(2)}
    halite.save_tensors("1.safetensors", tensors)
    halite.save_tensors("2.safetensors", dict(reversed(tensors.items())))
    assert Path("1.safetensors").read_bytes() == Path("2.safetensors").read_bytes()


def test_a_write_that_fails_leaves_what_was_there() -> None:
    halite.save_tensors("model.safetensors", {"a": np.ones(3)})
    before = Path("model.safetensors").read_bytes()
    with pytest.raises(halite.Error):
        halite.save_tensors("model.safetensors", {"a": "no number"})
    assert Path("model.safetensors").read_bytes() == before and os.listdir() == ["model.safetensors"]
