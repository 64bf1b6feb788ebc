"""A step over eight devices computes what one device does."""

from __future__ import annotations

from functools import cache
from typing import Any

import halite.jax
import jax
import numpy as np
import pytest
from jax.sharding import Mesh
from models import batches, compiled, distance, runtime, wholes

LAYOUTS: dict[str, dict[str, Any]] = {
    "data": {"data": 8},
    "zero": {"data": 4, "tensor": 2, "zero": 1},
    "tensor": {"data": 1, "tensor": 8},
    "sequence": {"data": 2, "tensor": 4, "sequence": True, "zero": 1},
}
UPDATES = 5


@cache
def alone(family: str) -> tuple[halite.Tensors, list[float], halite.Tensors]:
    """What one device starts from, the loss of each update and what it ends with."""
    one = compiled(family, precision="fp64")
    own = runtime(one)
    start = own.state()
    return start, [own.step(batch)["loss"] for batch in batches(one, UPDATES)], own.state()


@pytest.mark.parametrize("family", ["llama", "gpt2"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_five_updates_are_those_of_one_device(layout: str, family: str) -> None:
    """Vocabularies with padding and two key heads on eight ranks among them."""
    start, expected, end = alone(family)
    parallel = LAYOUTS[layout]
    bundle = compiled(family, precision="fp64", batch=8 // parallel["data"], parallel=parallel)
    step = halite.jax.train_step(bundle)
    state, run, losses = step.put_state(start), step.jit(), []
    for batch in batches(bundle, UPDATES):
        state, metrics = run(state, step.put_batch(batch))
        losses.append(float(metrics["loss"]))
    assert {name: array.sharding for name, array in state.items()} == step.shardings, "so that JAX compiles once"
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9)
    assert distance(wholes(bundle, state), end) < 1e-9


def test_micro_batches_of_several_ranks() -> None:
    start, expected, _ = alone("llama")
    for form in ("one", "two"):
        bundle = compiled("llama", precision="fp64", batch=2, accumulate={"steps": 2, "form": form}, parallel={"data": 2, "tensor": 2})
        step = halite.jax.train_step(bundle)
        state, run = step.put_state(start), step.jit()
        losses = []
        for batch in batches(bundle, 2):
            state, metrics = run(state, step.put_batch(batch))
            losses.append(float(metrics["loss"]))
        np.testing.assert_allclose(losses, expected[:2], rtol=0, atol=1e-9)


def test_the_devices_are_those_of_a_mesh_that_is_given() -> None:
    bundle = compiled("llama", layers=1, batch=4, parallel={"data": 2, "tensor": 2})
    devices = np.array(jax.devices()[4:8]).reshape(2, 2)
    step = halite.jax.train_step(bundle, Mesh(devices, ("data", "tensor")))
    state, metrics = step.jit()(step.init(), batches(bundle, 1)[0])
    assert {device for array in state.values() for device in array.devices()} == set(devices.flat)
    assert np.isfinite(float(metrics["loss"]))


def test_functions_of_other_roles_lie_on_the_same_mesh() -> None:
    bundle = compiled("llama", precision="fp64", batch=4, parallel={"data": 2, "tensor": 4}, roles=["train_step", "eval", "grads", "forward"])
    one = compiled("llama", precision="fp64", roles=["eval", "grads", "forward", "train_step"])
    start, (batch,) = one.init(seed=3), batches(one, 1)
    results = {}
    for name, of in (("one", one), ("mesh", bundle)):
        state = halite.jax.train_step(of).put_state(start)
        metrics, gradients = halite.jax.grads(of).jit()(state, batch)
        logits = halite.jax.forward(of).jit()(state, batch)["logits"]
        loss = halite.jax.eval(of).jit()(state, batch)["loss"]
        results[name] = (loss, metrics["loss"], logits, of.unpack({k: np.asarray(v) for k, v in gradients.items()}))
    for found, expected in zip(results["mesh"][:3], results["one"][:3], strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert distance(results["mesh"][3], results["one"][3]) < 1e-9
