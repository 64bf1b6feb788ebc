"""Gradients of a bundle with the optimizer of another library: AdamW of optax is AdamW of the recipe."""

from __future__ import annotations

from typing import Any

import halite
import halite.jax
import jax
import numpy as np
import optax
import pytest

UPDATES = 20
RATE, WARMUP, STEPS, FLOOR = 1e-2, 4, 20, 0.1
DECAY, CLIP, BETAS, EPS = 0.1, 0.715, (0.9, 0.95), 1e-8
SIZES: dict[str, Any] = {"vocab": 64, "hidden": 32, "layers": 1, "heads": 4, "kv_heads": 2, "ffn": 48, "seq": 16}


def compiled(layout: dict[str, int], **optimizer: Any) -> halite.Bundle:
    """The recipe that `optimizer_of` says the same as."""
    adamw = {"lr": RATE, "betas": BETAS, "eps": EPS, "weight_decay": DECAY, "clip_norm": CLIP, **optimizer}
    schedule = {"warmup": WARMUP, "steps": STEPS, "floor": FLOOR, "shape": "cosine"}
    recipe: dict[str, Any] = {"precision": "fp64", "batch": 8 // layout.get("data", 1), "optimizer": {"adamw": adamw}}
    if layout:
        recipe["parallel"] = layout
    roles = ["train_step", "grads"]
    return halite.compile("tiny", roles=roles, schedule=schedule, **recipe, **SIZES)


def rate(count: jax.Array) -> Any:
    """The schedule; optax counts updates from 0, a recipe from 1."""
    warm = optax.linear_schedule(0.0, RATE, WARMUP)
    cool = optax.cosine_decay_schedule(RATE, STEPS - WARMUP, FLOOR)
    return optax.join_schedules([warm, cool], [WARMUP])(count.astype(jax.numpy.float64) + 1)


def recipe_clip() -> optax.GradientTransformation:
    """Clipping as recipes have it, by `min(1, c / (norm + 1e-6))`.

    `optax.clip_by_global_norm` has no such term: where it clips, updates are 1e-6 of themselves away from these.
    """

    def clip(gradients: Any, kept: Any, _: Any = None) -> Any:
        factor = jax.numpy.minimum(1.0, CLIP / (optax.global_norm(gradients) + 1e-6))
        return jax.tree.map(lambda gradient: gradient * factor, gradients), kept

    return optax.GradientTransformation(lambda _: optax.EmptyState(), clip)


@pytest.mark.parametrize("layout", [{}, {"data": 4, "tensor": 2}], ids=["one device", "data and tensor"])
def test_adamw_of_optax_is_that_of_the_recipe(layout: dict[str, int]) -> None:
    bundle = compiled(layout)
    step, grads = halite.jax.train_step(bundle), halite.jax.grads(bundle)
    state = step.init(3)
    weights = {name: state[name] for name in grads.shardings}
    optimizer = optax.chain(recipe_clip(), optax.adamw(rate, *BETAS, eps=EPS, weight_decay=DECAY))

    def update(weights: Any, kept: Any, tokens: Any) -> Any:
        metrics, gradients = grads(weights, tokens)
        # Gradients are those of the sum over labels, the recipe trains on the mean.
        mean = jax.tree.map(lambda gradient: gradient / metrics["count"], gradients)
        changes, kept = optimizer.update(mean, kept, weights)
        return optax.apply_updates(weights, changes), kept, metrics["loss"] / metrics["count"], optax.global_norm(mean)

    ours = step.jit(donate=False)
    theirs = jax.jit(update, compiler_options=halite.jax.exact_options(step.mesh))
    kept = optimizer.init(weights)
    norms = []
    for number in range(UPDATES):
        tokens = np.random.default_rng(number).integers(0, 64, (8, 17)).astype(np.int32)
        state, metrics = ours(state, tokens)
        weights, kept, loss, norm = theirs(weights, kept, tokens)
        np.testing.assert_allclose([loss, norm], [metrics["loss"], metrics["grad_norm"]], rtol=1e-9)
        norms.append(float(norm))
    assert min(norms) < CLIP < max(norms), "both clipped and unclipped updates are compared"
    for name, weight in weights.items():
        expected = np.asarray(state[name])
        assert np.abs(np.asarray(weight) - expected).max() <= 1e-9 * np.abs(expected).max(), name
