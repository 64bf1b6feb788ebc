"""Tensors of the model are what a checkpoint holds: Orbax takes them from one layout to another, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest
from jax.sharding import Mesh

MODELS = Path(__file__).parents[4] / "models"
OPTIMIZER = {"adamw": {"lr": 1e-3, "weight_decay": 0.1, "clip_norm": 1.0}}
# A vocabulary that ranks do not share out evenly; two key heads, fewer than the four ranks of `B`.
GPT2 = {"vocab": 31, "hidden": 32, "layers": 1, "heads": 4, "positions": 16}
LLAMA = {"vocab": 31, "hidden": 32, "layers": 2, "heads": 4, "kv_heads": 2, "ffn": 24}
ALONE, A, B = {"data": 1}, {"data": 4, "tensor": 2}, {"data": 2, "tensor": 4}
LAYOUTS = {"alone": ALONE, "a": A, "b": B}


def by_columns() -> halite.Text:
    """Llama with projections that are stored columns first."""
    rows = "param weight: [width, dim(x, -1)] = normal(std)\n    return linear(x, weight)"
    columns = "param weight: [dim(x, -1), width] = normal(std)\n    return x @ weight"
    model, blocks = (MODELS / "llama.hal").read_text(), (MODELS / "libraries" / "blocks.hal").read_text()
    own = blocks[blocks.index("{") + 1 : blocks.rindex("}")]
    assert rows in own
    used = next(line for line in model.splitlines() if line.startswith("use blocks: "))
    model = model.replace(used, "").replace("model llama {", "model llama {" + own.replace(rows, columns))
    return halite.Text(model)


def compiled(model: str, layout: Mapping[str, int], precision: str = "fp64") -> halite.Bundle:
    return _compiled(model, tuple(layout.items()), precision)


@cache
def _compiled(model: str, axes: tuple[tuple[str, int], ...], precision: str) -> halite.Bundle:
    layout = dict(axes)
    sources: dict[str, tuple[Any, dict[str, Any]]] = {"gpt2": (MODELS / "gpt2.hal", GPT2), "llama": ("tiny", LLAMA), "columns": (by_columns(), LLAMA)}
    source, sizes = sources[model]
    batch = 8 // layout.get("data", 1)
    settings: dict[str, Any] = {"batch": batch, "seq": 16, "precision": precision, "optimizer": OPTIMIZER, "parallel": layout}
    return halite.compile(source, roles=["train_step"], **settings, **sizes)


def initial(bundle: halite.Bundle) -> dict[str, np.ndarray]:
    """Tensors of the model in which no two numbers are equal, the state of the optimizer included."""
    random = np.random.default_rng(5)
    made = bundle.init(seed=3)
    return {name: random.random(array.shape).astype(array.dtype) if array.ndim else array for name, array in made.items()}


def batches() -> Iterator[np.ndarray]:
    random = np.random.default_rng(7)
    while True:
        yield random.integers(0, 31, (8, 17)).astype(np.int32)


def same_bits(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert np.asarray(found[name]).tobytes() == np.asarray(array).tobytes(), name


def train(step: halite.jax.Jitted, state: Any, fed: Iterator[np.ndarray], updates: int) -> tuple[Any, list[float]]:
    losses = []
    for _ in range(updates):
        state, metrics = step(state, next(fed))
        losses.append(float(metrics["loss"]))
    return state, losses


def through_disk(folder: Path, tensors: Any, target: Any) -> Any:
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder, tensors)
        checkpointer.wait_until_finished()
        return checkpointer.restore(folder, target)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("model", ["gpt2", "llama", "columns"])
def test_tensors_are_those_that_the_bundle_packs(model: str, layout: str) -> None:
    bundle = compiled(model, LAYOUTS[layout])
    step = halite.jax.train_step(bundle)
    given = initial(bundle)
    state = step.put_state(given)
    stored = bundle.pack(given)
    same_bits({name: np.asarray(array).reshape(stored[name].shape) for name, array in state.items()}, stored)
    tensors = step.tensors(state)
    same_bits(tensors, given)
    same_bits(step.put_state(tensors), state)
    abstract = step.abstract_tensors()
    for name, tensor in tensors.items():
        expected = (abstract[name].shape, abstract[name].dtype, abstract[name].sharding)
        assert (tensor.shape, tensor.dtype, tensor.sharding) == expected, name


def test_layouts_store_what_the_tests_are_about() -> None:
    def parts(model: str, layout: Mapping[str, int]) -> list[halite.manifest.Part]:
        buffers = compiled(model, layout).manifest.buffers
        return [part for buffer in buffers if buffer.packing for part in buffer.packing.parts]

    assert any(part.padding for part in parts("gpt2", A))
    assert parts("llama", ALONE)
    assert any(part.transposed for part in parts("columns", ALONE))


def test_each_device_has_its_share_of_the_tensors() -> None:
    step = halite.jax.train_step(compiled("llama", A))
    shares = [
        (tensor.sharding.shard_shape(tensor.shape), tensor.shape)
        for tensor in step.abstract_tensors().values()
        if len(tensor.shape) == 2
    ]
    assert shares
    assert all(8 * np.prod(share) == np.prod(whole) for share, whole in shares)


@pytest.mark.parametrize("model", ["gpt2", "columns"])
def test_a_checkpoint_of_one_layout_is_one_of_another(model: str, tmp_path: Path) -> None:
    steps = [halite.jax.train_step(compiled(model, layout)) for layout in (A, B)]
    jitted = [step.jit() for step in steps]
    given = initial(steps[0].bundle)
    expected_state, expected = train(jitted[0], steps[0].put_state(given), batches(), 6)

    fed = batches()
    state, losses = train(jitted[0], steps[0].put_state(given), fed, 2)
    tensors = through_disk(tmp_path / "a", steps[0].tensors(state), steps[1].abstract_tensors())
    state, more = train(jitted[1], steps[1].put_state(tensors), fed, 2)
    tensors = through_disk(tmp_path / "b", steps[1].tensors(state), steps[0].abstract_tensors())
    state, last = train(jitted[0], steps[0].put_state(tensors), fed, 2)

    np.testing.assert_allclose([*losses, *more, *last], expected, rtol=1e-9, atol=0)
    found = steps[0].tensors(state)
    for name, array in steps[0].tensors(expected_state).items():
        scale = np.abs(np.asarray(array)).max()
        assert np.abs(np.asarray(found[name]) - np.asarray(array)).max() <= 1e-9 * scale, name


@pytest.mark.parametrize("form", ["tensors", "state"])
def test_training_goes_on_bit_for_bit_on_the_same_layout(form: str, tmp_path: Path) -> None:
    """As tensors of the model, or as the bundle stores them; on devices in another order."""
    bundle = compiled("llama", A, "mixed")
    step, given = halite.jax.train_step(bundle), initial(bundle)
    expected_state, expected = train(step.jit(), step.put_state(given), batches(), 4)

    fed = batches()
    state, losses = train(step.jit(), step.put_state(given), fed, 2)
    devices = np.array(jax.devices())[::-1].reshape(4, 2)
    other = halite.jax.train_step(bundle, Mesh(devices, ("data", "tensor")))
    if form == "tensors":
        state = other.put_state(through_disk(tmp_path / "c", step.tensors(state), other.abstract_tensors()))
    else:
        state = through_disk(tmp_path / "c", state, other.abstract_state())
    state, last = train(other.jit(), state, fed, 2)
    assert [*losses, *last] == expected
    same_bits(state, expected_state)


@pytest.mark.parametrize("wrong", ["shape", "type", "missing"])
def test_tensors_that_do_not_fit_are_refused(wrong: str) -> None:
    step = halite.jax.train_step(compiled("llama", A))
    given = initial(step.bundle)
    name = "model.norm.weight"
    if wrong == "missing":
        del given[name]
        expected = f"the tensor `{name}` is missing"
    elif wrong == "shape":
        given[name] = given[name].reshape(2, 16)
        expected = rf"the tensor `{name}` is `float64` of \[2, 16\], expected `float64` of \[32\]"
    else:
        given[name] = given[name].astype(np.float32)
        expected = rf"the tensor `{name}` is `float32` of \[32\], expected `float64` of \[32\]"
    with pytest.raises(halite.Error, match=expected):
        step.put_state(given)
