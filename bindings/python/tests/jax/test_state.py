"""What a state is in JAX: named arrays on the devices of a mesh."""

from __future__ import annotations

from typing import Any

import halite.jax
import jax
import numpy as np
import pytest
from halite.jax._layout import Layout
from halite.manifest import Buffer, Digit
from models import compiled, runtime, wholes

LAYOUTS: list[dict[str, Any]] = [
    {},
    {"data": 4, "zero": 1},
    {"data": 1, "tensor": 8},
    {"data": 2, "tensor": 4, "zero": 1},
]


@pytest.mark.parametrize("family", ["llama", "gpt2"])
@pytest.mark.parametrize("parallel", LAYOUTS)
def test_it_starts_as_the_bundle_says(parallel: dict[str, Any], family: str) -> None:
    """Merged projections, key heads that are stored twice, padding: byte for byte."""
    overrides = {"parallel": parallel} if parallel else {}
    bundle = compiled(family, batch=8 // parallel.get("data", 1), **overrides)
    state = halite.jax.train_step(bundle).init(3)
    same_bytes(wholes(bundle, state), bundle.init(seed=3))


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_the_runtime_starts_so_too(family: str) -> None:
    bundle = compiled(family, batch=4, parallel=LAYOUTS[-1])
    same_bytes(runtime(bundle).state(), bundle.init(seed=3))


def same_bytes(found: halite.Tensors, expected: halite.Tensors) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes(), name


def test_each_device_makes_its_own_part(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = compiled("llama", batch=1, parallel={"data": 8, "zero": 1})
    step = halite.jax.train_step(bundle)
    made: dict[str, int] = {}

    class Counted:
        def __init__(self, native: Any, seed: int) -> None:
            self.initial = initial(native, seed)

        def part(self, name: str, ranges: Any) -> bytes:
            made[name] = made.get(name, 0) + int(np.prod([end - start for start, end in ranges]))
            return self.initial.part(name, ranges)

    initial = halite._native.Initial
    monkeypatch.setattr(halite._native, "Initial", Counted)
    step.init(0)
    sizes = {buffer.name: buffer.size for buffer in bundle.manifest.buffers}
    sharded = [name for name, sharding in step.shardings.items() if not sharding.is_fully_replicated]
    assert len(sharded) > 20
    assert made == {name: sizes[name] for name in step.shardings}, "no element is made twice, on any device"


def test_without_a_seed_that_of_the_recipe_is_taken() -> None:
    step = halite.jax.train_step(compiled("llama", layers=1, train={"seed": 11}))
    assert all(np.array_equal(one, other) for one, other in zip(step.init().values(), step.init(11).values(), strict=True))
    assert any(not np.array_equal(one, other) for one, other in zip(step.init().values(), step.init(12).values(), strict=True))


def test_the_shapes_that_are_promised_are_those_that_are_made() -> None:
    step = halite.jax.train_step(compiled("llama", batch=4, parallel={"data": 2, "tensor": 4}))
    for name, array in step.init(0).items():
        promised = step.abstract_state()[name]
        assert (array.shape, array.dtype, array.sharding) == (promised.shape, promised.dtype, promised.sharding)


def test_a_digit_inside_of_a_dimension_makes_two_of_it() -> None:
    """24 indices, of which a rank of 2 has those where `index // 4 % 2` is its own, and of 3 ranks each a part of these."""
    bundle = compiled("llama", layers=1, batch=1, parallel={"data": 2, "tensor": 3})
    manifest = bundle.manifest
    assert (manifest.mesh["data"], manifest.mesh["tensor"]) == (2, 3)
    layout = Layout(manifest, None)
    placement = layout.place((24,), ((Digit("tensor", 0, 3, 8), Digit("data", 0, 2, 4)),))
    assert (placement.shape, placement.spec) == ((24,), jax.sharding.PartitionSpec(("tensor", "data")))
    placement = layout.place((24,), ((Digit("data", 0, 2, 4),),))
    assert (placement.shape, placement.part, placement.local) == ((3, 8), (3, 4), (12,))
    assert placement.spec == jax.sharding.PartitionSpec(None, "data")
    whole = np.arange(24).reshape(placement.shape)
    index = (slice(None), slice(4, 8))
    ranges = placement.ranges(index)
    assert ranges == [[(4, 8), (12, 16), (20, 24)]]
    expected = [at for at in range(24) if at // 4 % 2 == 1]
    assert whole[index].ravel().tolist() == expected == [at for start, end in ranges[0] for at in range(start, end)]


def test_a_buffer_that_is_sharded_so_starts_by_parts() -> None:
    bundle = compiled("llama", layers=1, batch=4, parallel={"data": 2, "tensor": 2})
    layout = Layout(bundle.manifest, None)
    name = "model.embed_tokens.weight"
    own = next(buffer for buffer in bundle.manifest.buffers if buffer.name == name)
    strided = Buffer(**{**own.__dict__, "sharding": ((Digit("data", 0, 2, 16),), (Digit("tensor", 0, 2, 8),))})
    state = halite.jax._state.States(bundle, layout, [strided]).init(3)[name]
    assert state.shape == (8, 32, 4, 16)
    expected = bundle.init(seed=3)[name]
    assert np.asarray(state).reshape(own.shape).tobytes() == expected.tobytes()
