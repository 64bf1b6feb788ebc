"""Models of Flax, Equinox and Haiku as they are: loss and gradients are those of JAX in f64."""

from __future__ import annotations

from collections import Counter

import halite.jax
import jax
import numpy as np
import pytest
from test_model import check_close, grads_of

# The oldest JAX that is tested is older than these.
pytest.importorskip("flax")

from frameworks import FRAMEWORKS, LAYERS, ROWS, SEQ, VOCAB  # noqa: E402

RECOGNIZED = {"predicate": 1, "softmax": 1, "log-softmax": 1}
"""What is recognized in each, in the layers' function and beside it; norms and activations are their own."""

OWN = {
    "linen": {"layer-norm-weight-first": 3, "gelu-tanh": 1},
    "scanned": {"layer-norm-weight-first": 3, "gelu-tanh": 1},
    "nnx": {"layer-norm-weight-first": 3, "gelu-tanh": 1},
    "equinox": {"layer-norm": 3, "gelu-tanh": 1, "shared-input": 1},
    "haiku": {"layer-norm-weight-first": 3, "shared-input": 1},
}

LISTS = {"haiku": "multi_head_attention"}
"""The modules by which layers are found; Haiku numbers those of a kind across layers. Others have `layers`."""


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
    assert model.ir.count(f"callee = @{LISTS.get(name, 'layers')}}}") == LAYERS
    remarks = halite.compile(model, roles=["train_step"], precision="fp64", explain=True).remarks
    taken = Counter(remark.rule for remark in remarks if remark.taken and remark.rule != "residuals")
    assert taken == {**RECOGNIZED, **OWN[name]}
