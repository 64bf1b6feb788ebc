"""What bad input gets: an exception that names the array and what was expected, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import halite
import halite.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from models import batches, compiled


@cache
def bundle(**overrides: Any) -> halite.Bundle:
    return compiled("llama", layers=1, **overrides)


@cache
def on_mesh() -> halite.Bundle:
    return compiled("llama", layers=1, batch=4, parallel={"data": 2, "tensor": 2})


@cache
def step() -> halite.jax.TrainStep:
    return halite.jax.train_step(bundle())


def state() -> dict[str, jax.Array]:
    return step().init(0)


def batch() -> dict[str, np.ndarray]:
    return batches(bundle(), 1)[0]


def donated() -> None:
    old = state()
    run = step().jit()
    run(old, batch())
    run(old, batch())


def on_one_device() -> None:
    run = halite.jax.train_step(on_mesh()).jit()
    whole = {name: jax.device_put(np.asarray(array), jax.devices()[0]) for name, array in halite.jax.train_step(on_mesh()).init(0).items()}
    run(whole, batch())


def without_wide_types() -> None:
    with jax.enable_x64(False) if hasattr(jax, "enable_x64") else jax.experimental.disable_x64():  # type: ignore[attr-defined]
        halite.jax.train_step(compiled("llama", layers=1, precision="fp64")).abstract_state()


def with_weight(array: Any) -> dict[str, Any]:
    return {**state(), "model.norm.weight": array}


def kernels() -> None:
    trn = halite.compile("tiny", layers=1, target="trn1", seq=128)
    apply = halite.jax.train_step(trn)
    apply.jit().lower().compile()


def mesh(sizes: tuple[int, ...], names: tuple[str, ...]) -> Mesh:
    return Mesh(np.array(jax.devices()[: int(np.prod(sizes))]).reshape(sizes), names)


CASES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "a batch of another length": (
        lambda: step().jit()(state(), {"tokens": batch()["tokens"][:, :20]}),
        "the array `tokens` is `int32` of [8, 20], expected `int32` of [8, 33]",
        "pass an array of that type and shape",
    ),
    "a batch of half the sequences": (
        lambda: step().jit()(state(), batch()["tokens"][:4]),
        "the array `tokens` is `int32` of [4, 33], expected `int32` of [8, 33]",
        "shapes are those of the whole",
    ),
    "a batch of another type": (
        lambda: step().jit()(state(), batch()["tokens"].astype(np.int64)),
        "the array `tokens` is `int64` of [8, 33], expected `int32` of [8, 33]",
        "pass an array of that type and shape",
    ),
    "a batch of floats inside jit": (
        lambda: jax.jit(step())(state(), jnp.ones((8, 33))),
        "the array `tokens` is `float64` of [8, 33], expected `int32` of [8, 33]",
        "pass an array of that type and shape",
    ),
    "a batch of another name": (
        lambda: step().jit()(state(), {"token": batch()["tokens"]}),
        "the batch lacks the array `tokens`",
        "pass it as `int32` of [8, 33]",
    ),
    "a batch with one array too many": (
        lambda: step().jit()(state(), {**batch(), "mask": np.ones(3)}),
        "the batch has the array `mask`, which the model does not take",
        "pass these arrays: tokens",
    ),
    "a batch of no array": (
        lambda: step().jit()(state(), {}),
        "the batch lacks the array `tokens`",
        "pass it as `int32` of [8, 33]",
    ),
    "a state without an array": (
        lambda: step().jit()({k: v for k, v in state().items() if k != "step"}, batch()),
        "the state lacks the array `step`",
        "make a state by `init` and keep all of it",
    ),
    "a state with one array too many": (
        lambda: step().jit()({**state(), "ema.x": jnp.ones(3)}, batch()),
        "the state has the array `ema.x`, which the bundle does not know",
        "leave it out",
    ),
    "a weight of another shape": (
        lambda: step().jit()(with_weight(jnp.ones(63, np.float32)), batch()),
        "the array `model.norm.weight` is `float32` of [63], expected `float32` of [64]",
        "pass an array of that type and shape",
    ),
    "a weight of another type": (
        lambda: step().jit()(with_weight(jnp.ones(64, jnp.bfloat16)), batch()),
        "the array `model.norm.weight` is `bfloat16` of [64], expected `float32` of [64]",
        "pass an array of that type and shape",
    ),
    "a weight that is no array": (
        lambda: step().jit()(with_weight("ones"), batch()),
        "the array `model.norm.weight` is a `str`, expected `float32` of [64]",
        "pass an array of JAX or NumPy",
    ),
    "a donated state used again": (
        donated,
        "the array `model.embed_tokens.weight` of the state was donated to an earlier call",
        "go on with the state that the call gave, or call without donation",
    ),
    "a state on one device of a mesh": (
        on_one_device,
        "the array `model.embed_tokens.weight` lies as SingleDeviceSharding",
        "put it there: `jax.device_put(state, step.shardings)`",
    ),
    "a mesh of other sizes": (
        lambda: halite.jax.train_step(on_mesh(), mesh((4, 1), ("data", "tensor"))),
        "the mesh has the axes {'data': 4, 'tensor': 1}, the bundle was compiled for {'data': 2, 'tensor': 2}",
        "make a mesh of these axes in this order",
    ),
    "a mesh of other names": (
        lambda: halite.jax.train_step(on_mesh(), mesh((2, 2), ("dp", "tp"))),
        "the mesh has the axes {'dp': 2, 'tp': 2}, the bundle was compiled for {'data': 2, 'tensor': 2}",
        "or compile the bundle with another `parallel`",
    ),
    "a mesh in another order": (
        lambda: halite.jax.train_step(on_mesh(), mesh((2, 2), ("tensor", "data"))),
        "the mesh has the axes {'tensor': 2, 'data': 2}, the bundle was compiled for {'data': 2, 'tensor': 2}",
        "make a mesh of these axes in this order",
    ),
    "a mesh for a bundle of one rank": (
        lambda: halite.jax.train_step(bundle(), mesh((2,), ("data",))),
        "the mesh has the axes {'data': 2}, the bundle was compiled for one rank",
        "or compile the bundle with another `parallel`",
    ),
    "more ranks than devices": (
        lambda: halite.jax.train_step(compiled("llama", layers=1, batch=1, parallel={"data": 8, "tensor": 2})),
        "the bundle is for 16 ranks, and JAX has 8 devices",
        "run it on as many devices, or compile it for fewer",
    ),
    "a role that was not compiled": (
        lambda: halite.jax.grads(bundle()),
        "the bundle has no module of the role `grads`, it has `train_step`",
        'compile it with the role: `halite.compile(.., roles=["grads"])`',
    ),
    "kernels in a program for the CPU": (
        kernels,
        "the program calls kernels of the platform `neuron`, and JAX compiles it for ['cpu']",
        'pass `kernels="decompose"`',
    ),
    "ids out of range, looked for on request": (
        lambda: step().jit(check_ids=True)(state(), batch()["tokens"] + 200),
        "`tokens` holds 441 at [0, 0], the model takes 0 to 255 there",
        "feed numbers in range",
    ),
    "types of 64 bits that JAX does not have": (
        without_wide_types,
        "the bundle has arrays of `f64`, and JAX has no types of 64 bits switched on",
        'jax.config.update("jax_enable_x64", True)',
    ),
    "a state of another model": (
        lambda: step().put_state({"x": np.ones(3, np.float32)}),
        "the bundle has no tensor `x`",
        "remove it",
    ),
    "state and batch in the wrong order": (
        lambda: step().jit()(step().put_batch(batch()), state()),
        "the state lacks the array `model.embed_tokens.weight`",
        "pass the state first, then the batch",
    ),
    "what a step gives as a state": (
        lambda: step().jit()(step().jit()(state(), batch()), batch()),
        "the state is a `tuple`, expected a mapping of names to arrays",
        "pass what `init` makes",
    ),
    "tensors of the model as a state": (
        lambda: step().jit()(bundle().init(), batch()),
        "the state lacks the array `model.layers.0.self_attn.q_k_v_proj.weight`",
        "put the tensors of the model on the devices first: `step.put_state(tensors)`",
    ),
    "weights alone as a state": (
        lambda: step().put_state(bundle().convert(bundle().init(), weights_only=True)),
        "the tensor `m.",
        "from weights alone `Bundle.init(weights=..)` makes them",
    ),
    "ids that no type holds": (
        lambda: step().put_batch(batch()["tokens"].astype(np.int64) + 2**40),
        "the array `tokens` is `int64` of [8, 33], expected `int32` of [8, 33]",
        "pass an array of that type and shape",
    ),
    "the derivative of a step": (
        lambda: jax.grad(lambda weight: step()(with_weight(weight), batch())[1]["loss"])(jnp.ones(64, jnp.float32)),
        "a program of Halite has no derivative in JAX",
        "take gradients from `halite.jax.grads(bundle)`",
    ),
    "a step mapped over batches": (
        lambda: jax.vmap(lambda tokens: step()(state(), tokens))(np.stack([batch()["tokens"]] * 2)),
        "a program of Halite cannot be mapped by `jax.vmap`",
        "compile it for the batch that it is to take",
    ),
    "options that there are not": (
        lambda: halite.jax.train_step(bundle(), kernels="inline"),  # type: ignore[arg-type]
        "`kernels` is `inline`, expected `call` or `decompose`",
        'pass `kernels="call"` or `kernels="decompose"`',
    ),
    "something else than a bundle": (
        lambda: halite.jax.train_step("tiny"),  # type: ignore[arg-type]
        "a `halite.Bundle` is expected, not a `str`",
        "halite.compile",
    ),
}


@pytest.mark.filterwarnings("ignore::halite.HaliteWarning")
@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_by_name(case: str) -> None:
    call, message, help = CASES[case]
    with pytest.raises(halite.Error) as caught:
        call()
    (first, *_) = caught.value.diagnostics
    assert first.message.startswith(message) or message in first.message, first.message
    assert help in first.help, first.help
    assert first.message in str(caught.value)


def test_nothing_is_donated_by_a_call_that_is_refused() -> None:
    given = state()
    with pytest.raises(halite.Error):
        step().jit()(given, batch()["tokens"][:4])
    assert not any(array.is_deleted() for array in given.values())


def test_whole_numbers_of_another_type_are_put_where_they_fit() -> None:
    expected = np.asarray(step().put_batch(batch())["tokens"])
    for given in (batch()["tokens"].astype(np.int64), batch()["tokens"].astype(np.uint16), batch()["tokens"].tolist()):
        put = step().put_batch(given)["tokens"]
        assert put.dtype == np.int32 and np.array_equal(put, expected)


def test_a_state_that_is_put_right_is_taken() -> None:
    apply = halite.jax.train_step(on_mesh())
    whole = {name: np.asarray(array) for name, array in apply.init(0).items()}
    sharded = jax.device_put(whole, apply.shardings)
    assert all(isinstance(array.sharding, NamedSharding) for array in sharded.values())
    _, metrics = apply.jit()(sharded, batch())
    assert np.isfinite(float(metrics["loss"]))
    replicated = NamedSharding(apply.mesh, PartitionSpec())
    tokens = jax.device_put(batch()["tokens"], replicated)
    assert np.isfinite(float(apply.jit()(apply.init(0), tokens)[1]["loss"])), "JAX moves a batch that lies elsewhere"
