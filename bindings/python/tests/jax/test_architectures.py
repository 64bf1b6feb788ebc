"""Published architectures against the same in JAX: loss and gradients in f64, and 200 updates from the same weights and data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from twins import TWINS

FOLDER = Path(__file__).parents[4] / "tests/architectures"
UPDATES = 200
NOISE = 0.3
"""The share of tokens and images that show nothing, so that no loss falls to zero."""
RATE, BETAS, EPS, DECAY, CLIP = 3e-3, (0.9, 0.95), 1e-8, 0.1, 1.0
ADAMW = {"lr": RATE, "betas": BETAS, "eps": EPS, "weight_decay": DECAY, "clip_norm": CLIP}


def compiled(name: str, **overrides: Any) -> halite.Bundle:
    return halite.compile(FOLDER / f"{name}.hal", optimizer={"adamw": ADAMW}, **overrides)


def batch_of(bundle: halite.Bundle, random: np.random.Generator) -> dict[str, np.ndarray]:
    """What can be learned up to a point: tokens that mostly follow from those before them, images that mostly show their class."""
    config = bundle.manifest.model.config
    buffers = {buffer.name: buffer for buffer in bundle.manifest.buffers if buffer.is_batch}
    shapes = {name: buffer.shape for name, buffer in buffers.items()}
    if "images" in shapes:
        labels = random.integers(0, config["classes"], shapes["labels"]).astype(np.int32)
        shown = np.where(random.random(labels.shape) < NOISE, random.integers(0, config["classes"], labels.shape), labels)
        waves = np.sin(shown[:, None] + np.arange(config["size"]))[:, None, None]
        images = random.normal(size=shapes["images"]) + 2 * waves
        return {"images": images.astype({"f32": np.float32, "f64": np.float64}[buffers["images"].dtype]), "labels": labels}
    vocab, (rows, columns) = config["vocab"], shapes["tokens"]
    first = random.integers(0, vocab, (rows, 1))
    tokens = (first + 7 * np.arange(columns)) % vocab
    tokens = np.where(random.random(tokens.shape) < NOISE, random.integers(0, vocab, tokens.shape), tokens).astype(np.int32)
    if "mask" not in shapes:
        return {"tokens": tokens}
    asked = random.random(tokens.shape) < 0.3
    mask = np.ones_like(tokens)
    mask[:, -3:] = 0
    labels = np.where(asked & (mask == 1), tokens, -100).astype(np.int32)
    return {"tokens": np.where(asked, 0, tokens), "token_types": tokens % 2, "mask": mask, "labels": labels}


def named(bundle: halite.Bundle, state: Any) -> dict[str, jax.Array]:
    """The tensors of the model in a state."""
    shapes = {buffer.name: buffer.shape for buffer in bundle.manifest.buffers}
    stored = {name: np.asarray(array).reshape(shapes[name]) for name, array in state.items()}
    return {name: jnp.asarray(array) for name, array in bundle.unpack(stored).items()}


@pytest.mark.parametrize("name", TWINS)
def test_loss_and_gradients_are_those_of_jax(name: str) -> None:
    bundle = compiled(name, precision="fp64", roles=["train_step", "grads"])
    grads = halite.jax.grads(bundle)
    state = halite.jax.train_step(bundle).init(3)
    weights = {weight: state[weight] for weight in grads.shardings}
    batch = batch_of(bundle, np.random.default_rng(0))
    metrics, gradients = grads(weights, batch)
    config = bundle.manifest.model.config
    own = named(bundle, weights)
    theirs = jax.jit(jax.value_and_grad(lambda w: TWINS[name](w, config, batch), has_aux=True))
    (loss, count), expected = theirs(own)
    assert int(count) == int(metrics["count"]) > 1
    np.testing.assert_allclose(metrics["loss"], loss, rtol=1e-9)
    found = named(bundle, gradients)
    assert found.keys() == expected.keys()
    largest = max(float(jnp.abs(gradient).max()) for gradient in expected.values())
    for weight, gradient in expected.items():
        np.testing.assert_allclose(found[weight], gradient, rtol=1e-9, atol=1e-9 * largest, err_msg=weight)


@pytest.mark.long
@pytest.mark.parametrize("name", TWINS)
def test_200_updates_end_like_those_of_jax(name: str) -> None:
    bundle = compiled(name, precision="mixed", roles=["train_step"])
    step = halite.jax.train_step(bundle)
    state, config = step.init(3), bundle.manifest.model.config
    weights = {weight: jnp.asarray(array, jnp.float32) for weight, array in masters(bundle, state).items()}
    adamw = optax.adamw(RATE, *BETAS, eps=EPS, weight_decay=DECAY)
    optimizer = optax.chain(optax.clip_by_global_norm(CLIP), adamw)
    kept = optimizer.init(weights)

    @jax.jit
    def theirs(weights: Any, kept: Any, batch: Any) -> Any:
        def mean(weights: Any) -> Any:
            loss, count = TWINS[name](weights, config, batch)
            return loss / count

        loss, gradients = jax.value_and_grad(mean)(weights)
        changes, kept = optimizer.update(gradients, kept, weights)
        return optax.apply_updates(weights, changes), kept, loss

    ours, losses = step.jit(), []
    for number in range(UPDATES):
        batch = batch_of(bundle, np.random.default_rng(number))
        state, metrics = ours(state, batch)
        weights, kept, loss = theirs(weights, kept, batch)
        losses.append((float(metrics["loss"]), float(loss)))
    found, expected = np.mean(losses[-20:], axis=0)
    print(f"{name}: from {losses[0][1]:.3f} to {found:.3f}, JAX {expected:.3f}")
    assert abs(found - expected) <= 0.05 * expected and expected < 0.9 * losses[0][1]


def masters(bundle: halite.Bundle, state: Any) -> dict[str, jax.Array]:
    """The weights of a state, as precise as it has them."""
    return {name: array for name, array in named(bundle, state).items() if not name.startswith(("m.", "v.", "step"))}
