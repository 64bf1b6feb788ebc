"""A step in JAX is the step of Halite's own runtime."""

from __future__ import annotations

from typing import Any

import halite
import halite.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models import FAMILIES, MID, batches, compiled, distance, runtime, wholes

UPDATES = 20


def trained(bundle: halite.Bundle, start: halite.Tensors, updates: int = UPDATES, **options: Any) -> Any:
    """The losses and the state after some updates in JAX."""
    step = halite.jax.train_step(bundle)
    state, run, losses = step.put_state(start), step.jit(**options), []
    for batch in batches(bundle, updates):
        state, metrics = run(state, step.put_batch(batch))
        losses.append(float(metrics["loss"]))
    return losses, wholes(bundle, state)


ALL = [*((family, {}) for family in FAMILIES), pytest.param("llama", MID, marks=pytest.mark.long, id="mid")]


@pytest.mark.parametrize(("family", "sizes"), ALL)
def test_twenty_updates_are_those_of_the_runtime_in_f64(family: str, sizes: dict[str, Any]) -> None:
    bundle = compiled(family, precision="fp64", **sizes)
    own = runtime(bundle)
    start = own.state()
    expected = [own.step(batch)["loss"] for batch in batches(bundle, UPDATES)]
    losses, state = trained(bundle, start)
    assert np.abs(np.subtract(losses, expected)).max() < 1e-9
    assert distance(state, own.state()) < 1e-9


@pytest.mark.parametrize("precision", ["fp32", "mixed"])
@pytest.mark.parametrize("sizes", [{}, pytest.param(MID, marks=pytest.mark.long, id="mid")])
def test_each_of_twenty_updates_errs_as_that_of_the_runtime_does(sizes: dict[str, Any], precision: str) -> None:
    """The rule of `halite verify`: 1.5 times the error of the other program, plus two units of roundoff, norm-wise.

    Each update is compared from one state, since errors of a whole run grow as training does, by chance more in one of two.
    """
    bundle, exact = (compiled("llama", precision=name, **sizes) for name in (precision, "fp64"))
    own, reference, step = runtime(bundle), runtime(exact), halite.jax.train_step(bundle)
    run, unit = step.jit(), {"fp32": 2.0**-24, "mixed": 2.0**-8}[precision]
    for batch in batches(bundle, UPDATES):
        start = own.state()
        reference.set_state({name: wide(array) for name, array in start.items()})
        state, _ = run(step.put_state(start), step.put_batch(batch))
        own.step(batch)
        reference.step(batch)
        found, expected, truth = wholes(bundle, state), own.state(), reference.state()
        for kind in ("model.", "m.", "v."):
            names = [name for name in truth if name.startswith(kind)]
            ours, theirs = (norm({name: of[name] - truth[name] for name in names}) for of in (expected, found))
            moved = norm({name: truth[name] - start[name] for name in names})
            assert theirs <= 1.5 * ours + 2 * unit * moved, kind


def wide(array: np.ndarray) -> np.ndarray:
    """The same numbers in `f64`."""
    return array.astype(np.float64) if array.dtype == np.float32 else array


def norm(tensors: dict[str, Any]) -> float:
    """The norm of all elements."""
    return float(np.sqrt(sum(float(np.sum(np.square(array, dtype=np.float64))) for array in tensors.values())))


def test_a_step_is_a_function_among_others() -> None:
    """Inside `jit`, with code of JAX before and after it, in a loop, under other names."""
    bundle = compiled("llama", precision="fp64")
    own = runtime(bundle)
    step = halite.jax.train_step(bundle)
    state = step.put_state(own.state())
    given = batches(bundle, 3)
    expected = [own.step(batch)["loss"] for batch in given]

    @jax.jit
    def three(state: Any, tokens: Any) -> Any:
        def one(state: Any, tokens: Any) -> Any:
            state, metrics = step(state, jnp.flip(tokens, axis=0))
            return state, 2 * metrics["loss"]

        return jax.lax.scan(one, state, tokens)

    state, losses = three(state, np.stack([batch["tokens"][::-1] for batch in given]))
    np.testing.assert_allclose(losses, 2 * np.array(expected), rtol=0, atol=1e-9)
    assert distance(wholes(bundle, state), own.state()) < 1e-9


def test_a_step_runs_without_jit() -> None:
    bundle = compiled("llama", precision="fp64", layers=1)
    own = runtime(bundle)
    step = halite.jax.train_step(bundle)
    state = step.put_state(own.state())
    (batch,) = batches(bundle, 1)
    _, metrics = step(state, batch["tokens"])
    assert abs(float(metrics["loss"]) - own.step(batch)["loss"]) < 1e-12
    assert not any(array.is_deleted() for array in state.values()), "nothing is donated unless asked for"


def test_ahead_of_time() -> None:
    bundle = compiled("llama", layers=1)
    step = halite.jax.train_step(bundle)
    lowered = step.jit().lower()
    compiled_step = lowered.compile()
    own = runtime(bundle)
    state = step.put_state(own.state())
    (batch,) = batches(bundle, 1)
    new, metrics = compiled_step(state, step.put_batch(batch))
    assert float(metrics["loss"]) == pytest.approx(own.step(batch)["loss"], rel=1e-5)
    assert all(array.is_deleted() for array in state.values()), "the state was donated"
    assert new.keys() == step.abstract_state().keys()
    memory = compiled_step.memory_analysis()
    size = sum(int(np.prod(array.shape)) * array.dtype.itemsize for array in new.values())
    assert memory is not None and memory.alias_size_in_bytes == size, "all of the state is replaced in place"


@pytest.mark.parametrize("form", ["one", "two"])
def test_micro_batches_are_accumulated(form: str) -> None:
    """In one module, and in two with sums of gradients that pass between them."""
    bundle = compiled("llama", precision="fp64", batch=2, accumulate={"steps": 4, "form": form})
    whole = compiled("llama", precision="fp64", batch=8)
    own = runtime(whole)
    start = own.state()
    expected = [own.step(batch)["loss"] for batch in batches(whole, 3)]
    losses, state = trained(bundle, start, 3)
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-9)
    assert distance(state, own.state()) < 1e-9


def test_evaluation_and_forward_read_a_whole_state() -> None:
    bundle = compiled("llama", precision="fp64", roles=["train_step", "eval", "forward"])
    own = runtime(bundle)
    step, evaluate, forward = (make(bundle) for make in (halite.jax.train_step, halite.jax.eval, halite.jax.forward))
    state = step.put_state(own.state())
    (batch,) = batches(bundle, 1)
    tokens = batch["tokens"]
    results = evaluate.jit()(state, batch)
    logits = forward.jit()(state, batch)["logits"]
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
    assert float(results["count"]) == picked.size
    assert abs(float(results["loss"]) + float(picked.sum())) < 1e-9 * picked.size
    assert abs(float(results["loss"] / results["count"]) - own.step(batch)["loss"]) < 1e-9
    assert not any(array.is_deleted() for array in state.values())
