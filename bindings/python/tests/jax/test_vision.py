"""Networks of convolutions, and an encoder with a decoder, as Flax has them: gradients are those of JAX in f64, and fifty updates those of optax."""

from __future__ import annotations

from typing import Any

import halite
import halite.jax
import jax
import numpy as np
import optax
import pytest
from test_architectures import batch_of, compiled, named
from test_model import check_close, grads_of
from twins import TWINS

# The oldest JAX that is tested is older than this.
pytest.importorskip("flax")

from frameworks import FRAMEWORKS, ROWS, SEQ, VOCAB  # noqa: E402
from vision import MODELS, Batch, Made  # noqa: E402

UPDATES = 50
TOLERANCE = {"nnx": 1e-5}
"""That of losses of a program that computes a part in `f32`; others have 1e-6."""

ADAMW: dict[str, Any] = {"lr": 1e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0}


def made(name: str) -> Made:
    """A model and a batch."""
    if name in MODELS:
        return MODELS[name]()
    if name in TWINS:
        bundle = compiled(name, precision="fp64", roles=["train_step"])
        config, state = bundle.manifest.model.config, named(bundle, halite.jax.train_step(bundle).init(3))
        params = {key: array for key, array in state.items() if not key.startswith(("m.", "v.", "step"))}
        return (lambda params, batch: TWINS[name](params, config, batch), params), batch_of(bundle, np.random.default_rng(0))
    tokens: Batch = {"tokens": np.random.default_rng(0).integers(0, VOCAB, (ROWS, SEQ + 1)).astype(np.int32)}
    return FRAMEWORKS[name](), tokens


def adamw_of_jax() -> Any:
    """The optimizer of `ADAMW`, by optax."""
    adamw = optax.adamw(ADAMW["lr"], *ADAMW["betas"], eps=ADAMW["eps"], weight_decay=ADAMW["weight_decay"])
    return optax.chain(optax.clip_by_global_norm(ADAMW["clip_norm"]), adamw)


def mean(loss: Any, params: Any, batch: Any) -> Any:
    """A loss, over its count where it has one."""
    found = loss(params, batch)
    return found[0] / found[1] if isinstance(found, tuple) else found


def losses_of_jax(loss: Any, params: Any, batch: Any) -> list[float]:
    """The mean losses of updates by optax."""
    rule = adamw_of_jax()

    @jax.jit
    def update(params: Any, state: Any) -> Any:
        value, gradients = jax.value_and_grad(lambda params: mean(loss, params, batch))(params)
        changes, state = rule.update(gradients, state, params)
        return optax.apply_updates(params, changes), state, value

    state, losses = rule.init(params), []
    for _ in range(UPDATES):
        params, state, value = update(params, state)
        losses.append(float(value))
    return losses


def total(loss: Any, batch: Any) -> Any:
    """A loss without its count."""

    def of(params: Any) -> Any:
        found = loss(params, batch)
        return found[0] if isinstance(found, tuple) else found

    return of


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_jax(name: str) -> None:
    (loss, params), batch = made(name)
    metrics, gradients = grads_of(halite.jax.model(loss, params, batch, name=name), params, batch)
    value, expected = jax.value_and_grad(total(loss, batch))(params)
    np.testing.assert_allclose(metrics["loss"], value, rtol=1e-12)
    check_close(gradients, expected)


@pytest.mark.long
@pytest.mark.parametrize("name", [*MODELS, *FRAMEWORKS, *TWINS])
def test_updates_are_those_of_jax(name: str) -> None:
    (loss, params), batch = made(name)
    model = halite.jax.model(loss, params, batch, name=name)
    step = halite.jax.train_step(halite.compile(model, precision="fp64", optimizer={"adamw": ADAMW}, roles=["train_step"]))
    state, update, losses = step.put_state(step.tensors(step.init(0)) | model.weights(params)), step.jit(), []
    for _ in range(UPDATES):
        state, metrics = update(state, step.put_batch(batch))
        losses.append(float(metrics["loss"]))
    np.testing.assert_allclose(losses, losses_of_jax(loss, params, batch), rtol=TOLERANCE.get(name, 1e-6))
    assert losses[-1] < losses[0]
