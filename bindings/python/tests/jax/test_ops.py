"""Operations of models against NumPy and JAX: broadcasting, and values and gradients in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import halite
import halite.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

TOLERANCE = 1e-9


def scalar_model(body: Callable[[halite.Model, halite.Tensor], halite.Tensor], shape: tuple[int, ...]) -> halite.BuiltModel:
    """A model whose loss is the sum of what the body makes of a parameter, each element times one of the batch."""
    m = halite.Model("m", float="f64")
    made = halite.Model("shape", float="f64")
    sizes = body(made, made.batch("x", "f64", shape)).shape
    scale = m.batch("scale", "f64", [1, *sizes])
    x = m.param("x", shape, init=halite.normal(1.0))
    y = body(m, x)
    m.output("y", y)
    return m.finish((y * scale[0]).sum(), m.full([], 1.0))


OPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any], tuple[int, ...]]] = {
    "softplus": (lambda m, x: m.softplus(x), jax.nn.softplus, (3, 4)),
    "cumsum": (lambda m, x: m.cumsum(x, dim=1), lambda x: jnp.cumsum(x, 1), (3, 5)),
    "cumsum backwards": (
        lambda m, x: m.cumsum(x, dim=0, reverse=True),
        lambda x: jax.lax.cumsum(x, 0, reverse=True),
        (7, 2),
    ),
    "sort": (lambda m, x: m.sort(x), lambda x: jnp.sort(x, -1), (3, 13)),
    "sort descending": (lambda m, x: m.sort(x, 0, True), lambda x: jnp.sort(x, 0, descending=True), (8, 3)),
    "argsort": (lambda m, x: m.argsort(x).convert("f64"), lambda x: jnp.argsort(x, -1).astype(float), (3, 9)),
    "stop_gradient": (lambda m, x: x * m.stop_gradient(x), lambda x: x * jax.lax.stop_gradient(x), (4,)),
    "one_hot": (
        lambda m, x: x @ m.one_hot(m.argmax(x), 5),
        lambda x: x @ jax.nn.one_hot(jnp.argmax(x, -1), 5, dtype=x.dtype),
        (4, 4),
    ),
    "argmin": (lambda m, x: x * m.argmin(x, 0).convert("f64"), lambda x: x * jnp.argmin(x, 0), (5, 3)),
    "einsum": (
        lambda m, x: m.einsum("abc,adc->bad", x, x),
        lambda x: jnp.einsum("abc,adc->bad", x, x),
        (2, 3, 4),
    ),
    "einsum that sums": (lambda m, x: m.einsum("ab,cb->a", x, x), lambda x: jnp.einsum("ab,cb->a", x, x), (3, 4)),
    "clamp": (lambda m, x: m.clamp(x, -0.5, 0.7), lambda x: jnp.clip(x, -0.5, 0.7), (4, 5)),
    "pad": (lambda m, x: m.pad(x, [[1, 0], [0, 2]], 0.5), lambda x: jnp.pad(x, [(1, 0), (0, 2)], constant_values=0.5), (2, 3)),
    "reverse": (lambda m, x: m.reverse(x, 1), lambda x: jnp.flip(x, 1), (2, 3)),
    "take": (
        lambda m, x: x[:, m.argsort(x[0])],
        lambda x: x[:, jnp.argsort(x[0])],
        (3, 4),
    ),
    "gather": (
        lambda m, x: m.gather(x, m.argsort(x)[:, :2]),
        lambda x: jnp.take_along_axis(x, jnp.argsort(x, -1)[:, :2], -1),
        (3, 4),
    ),
    "erf": (lambda m, x: m.erf(x), jax.scipy.special.erf, (3, 4)),
    "tan": (lambda m, x: m.tan(x * 0.2), lambda x: jnp.tan(x * 0.2), (3, 4)),
    "cbrt": (lambda m, x: m.cbrt(x), jnp.cbrt, (3, 4)),
    "atan2": (lambda m, x: m.atan2(x, x * x + 1), lambda x: jnp.arctan2(x, x * x + 1), (3, 4)),
    "sign": (lambda m, x: m.sign(x) * x, lambda x: jnp.sign(x) * x, (3, 4)),
    "stack": (lambda m, x: m.stack([x, x * 2], 1), lambda x: jnp.stack([x, x * 2], 1), (3, 4)),
    "powers": (lambda m, x: x**2 + x**5 - x**-2, lambda x: x**2 + x**5 - x**-2.0, (3, 4)),
    "roots": (lambda m, x: (x * x + 1) ** 0.5 + 2**x, lambda x: (x * x + 1) ** 0.5 + 2**x, (3, 4)),
    "steps": (lambda m, x: x[::-2, 1::3], lambda x: x[::-2, 1::3], (5, 8)),
    "rows of one": (
        lambda m, x: x - m.mean(x, -1, True) * x[:1],
        lambda x: x - jnp.mean(x, -1, keepdims=True) * x[:1],
        (3, 4),
    ),
}


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients_are_those_of_jax(name: str) -> None:
    body, same, shape = OPS[name]
    model = scalar_model(body, shape)
    bundle = halite.compile(model, precision="fp64", roles=["forward", "grads"])
    random = np.random.default_rng(0)
    x = random.normal(size=shape)
    expected = same(x)
    scale = random.normal(size=expected.shape)
    shown = halite.jax.forward(bundle)({"x": x}, scale[None])["y"]
    np.testing.assert_allclose(shown, expected, rtol=TOLERANCE, atol=TOLERANCE)
    _, gradients = halite.jax.grads(bundle)({"x": x}, scale[None])
    gradient = jax.grad(lambda x: (same(x) * scale).sum())(x)
    np.testing.assert_allclose(gradients["x"], gradient, rtol=TOLERANCE, atol=TOLERANCE)
    assert name == "argsort" or np.abs(gradient).max() > 0.01, "nothing is compared"


def shapes(random: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes, of which about half go together."""
    full = random.integers(1, 5, size=random.integers(1, 5))

    def one() -> tuple[int, ...]:
        sizes = np.where(random.random(full.size) < 0.3, 1, full)
        sizes = np.where(random.random(full.size) < 0.5, random.integers(1, 5, size=full.size), sizes)
        return tuple(int(size) for size in sizes[random.integers(0, full.size + 1) :])

    return one(), one()


@pytest.mark.parametrize("pairs", [500, pytest.param(2000, marks=pytest.mark.long)])
def test_broadcasting_is_that_of_numpy(pairs: int) -> None:
    random = np.random.default_rng(1)
    m = halite.Model("m", float="f64")
    one = m.batch("one", "f64", [1, 1])
    w = m.param("w", [1], init=halite.ones)
    made, refused = {}, 0
    for index in range(pairs):
        left, right = shapes(random)
        x, y = (np.arange(np.prod(shape), dtype=float).reshape(shape) + index for shape in (left, right))
        try:
            expected = x + 2 * y
        except ValueError:
            refused += 1
            alone = halite.Model("alone")
            a, b = alone.batch("a", "f64", left), alone.batch("b", "f64", right)
            with pytest.raises(halite.Error, match="do not fit together"):
                alone.finish((a + 2 * b).sum(), alone.full([], 1.0))
            continue
        counted = [m.iota([max(1, int(np.prod(shape)))], type="f64").reshape(list(shape)) + index for shape in (left, right)]
        m.output(f"y{index}", (counted[0] + 2 * counted[1]) * one[0, 0])
        made[f"y{index}"] = expected
    bundle = halite.compile(m.finish((w * one[0]).sum(), m.full([], 1.0)), precision="fp64", roles=["forward"])
    found = halite.jax.forward(bundle)({"w": np.ones(1)}, np.ones((1, 1)))
    assert found.keys() == made.keys() and min(len(made), refused) > pairs / 10, (len(made), refused)
    for name, expected in made.items():
        assert found[name].shape == expected.shape
        np.testing.assert_array_equal(found[name], expected)
