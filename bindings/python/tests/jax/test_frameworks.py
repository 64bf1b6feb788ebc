"""Models of Flax, Equinox and Haiku as they are: loss and gradients are those of JAX in f64."""

from __future__ import annotations

import halite.jax
import jax
import numpy as np
import pytest
from test_model import check_close, grads_of

# The oldest JAX that is tested is older than these.
pytest.importorskip("flax")

from frameworks import FRAMEWORKS, LAYERS, ROWS, SEQ, VOCAB  # noqa: E402

CALLS = {"linen": LAYERS, "scanned": LAYERS, "nnx": LAYERS, "equinox": LAYERS, "haiku": 0}
"""The layers that become calls of one function. Haiku numbers modules across layers, so that no list is to be seen."""


TOLERANCE = {"nnx": 1e-5}
"""That of programs which compute a part in `f32`: attention's softmax of Flax NNX. Others have 1e-9."""


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_loss_and_gradients_are_those_of_jax(name: str) -> None:
    loss, params = FRAMEWORKS[name]()
    batch = {"tokens": np.random.default_rng(0).integers(0, VOCAB, (ROWS, SEQ + 1)).astype(np.int32)}
    model = halite.jax.model(loss, params, batch, name=name, causal=True)
    metrics, gradients = grads_of(model, params, batch)
    (expected, count), leaves = jax.value_and_grad(loss, has_aux=True)(params, batch)
    np.testing.assert_allclose([metrics["loss"], metrics["count"]], [expected, count], rtol=TOLERANCE.get(name, 1e-9))
    check_close(gradients, leaves, TOLERANCE.get(name, 1e-9))
    assert model.ir.count("callee = @layers}") == CALLS[name]
