"""Functions of JAX as models: their loss and gradients are those of JAX, and what is no model is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from halite.program import Input, Output
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from models import LLAMA, OPTIMIZER
from test_architectures import batch_of, compiled, named
from twins import TWINS, attention, causal, cross_entropy, heads, linear, rms_norm, rope


def grads_of(model: halite.jax.Model, params: Any, batch: Any, **overrides: Any) -> tuple[dict[str, Any], Any]:
    """The metrics of a batch and the pytree of gradients, in f64."""
    grads = halite.jax.grads(halite.compile(model, precision="fp64", roles=["train_step", "grads"], **overrides))
    metrics, gradients = grads(grads.put_state(model.weights(params)), batch)
    return metrics, model.params(grads.tensors(gradients))


def check_close(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    """Two pytrees are the same up to a part of the largest element."""
    largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(expected))
    check = lambda one, other: np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * largest)  # noqa: E731
    jax.tree.map(check, found, expected)


@pytest.mark.parametrize("name", TWINS)
def test_published_architectures_are_taken_from_jax(name: str) -> None:
    bundle = compiled(name, precision="fp64", roles=["train_step"])
    config, batch = bundle.manifest.model.config, batch_of(bundle, np.random.default_rng(0))
    state = named(bundle, halite.jax.train_step(bundle).init(3))
    params = {key: array for key, array in state.items() if not key.startswith(("m.", "v.", "step"))}
    loss = lambda params, batch: TWINS[name](params, config, batch)  # noqa: E731
    model = halite.jax.model(loss, params, batch, name=name)
    metrics, gradients = grads_of(model, params, batch)
    (total, count), expected = jax.value_and_grad(loss, has_aux=True)(params, batch)
    np.testing.assert_allclose([metrics["loss"], metrics["count"]], [total, count], rtol=1e-12)
    check_close(gradients, expected)


def llama(w: dict[str, Any], batch: dict[str, Any]) -> jax.Array:
    """The logits of the built-in Llama."""
    x = w["model.embed_tokens.weight"][batch["tokens"][:, :-1]]
    for layer in range(LLAMA["layers"]):
        at = f"model.layers.{layer}."
        h = rms_norm(w, f"{at}input_layernorm", x, 1e-5)
        q, k, v = (linear(w, f"{at}self_attn.{part}_proj", h) for part in "qkv")
        q, k, v = heads(q, LLAMA["heads"]), heads(k, LLAMA["kv_heads"]), heads(v, LLAMA["kv_heads"])
        own = attention(rope(q), rope(k), v, causal(x.shape[1]))
        x = x + linear(w, f"{at}self_attn.o_proj", own)
        h = rms_norm(w, f"{at}post_attention_layernorm", x, 1e-5)
        gate, up = (linear(w, f"{at}mlp.{part}_proj", h) for part in ("gate", "up"))
        x = x + linear(w, f"{at}mlp.down_proj", jax.nn.silu(gate) * up)
    return linear(w, "lm_head", rms_norm(w, "model.norm", x, 1e-5))


def llama_loss(w: dict[str, Any], batch: dict[str, Any]) -> Any:
    return cross_entropy(llama(w, batch), batch["tokens"][:, 1:])


def test_a_llama_trains_as_the_built_in_one() -> None:
    """Losses of twenty updates in f64; what is recognized; calls of one function for the layers."""
    sizes: dict[str, Any] = {**LLAMA, "batch": 8, "seq": 32, "precision": "fp64", "optimizer": OPTIMIZER, "roles": ["train_step"]}
    own = halite.compile("llama", **sizes)
    random = np.random.default_rng(5)
    batches = [{"tokens": random.integers(0, LLAMA["vocab"], (8, 33)).astype(np.int32)} for _ in range(20)]
    step = halite.jax.train_step(own)
    start = step.tensors(step.init(3))
    params = {name: array for name, array in start.items() if not name.startswith(("m.", "v.", "step"))}
    model = halite.jax.model(llama_loss, params, batches[0], outputs=lambda w, b: {"logits": llama(w, b)}, name="llama", causal=True)
    theirs = halite.compile(model, precision="fp64", optimizer=OPTIMIZER, roles=["train_step"], explain=True)
    rules = {remark.rule for remark in theirs.remarks if remark.taken}
    assert {"rms-norm", "halves", "softmax", "swiglu", "log-softmax", "predicate"} <= rules, rules
    assert model.ir.count("callee = @layers}") == LLAMA["layers"], model.ir
    losses = [run(bundle, start, batches) for bundle in (own, theirs)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-12)


def stacked(w: dict[str, Any]) -> dict[str, Any]:
    """The weights of a Llama, those of its layers as one array of a row for each."""
    first = "model.layers.0."
    rest = [name.removeprefix(first) for name in w if name.startswith(first)]
    rows = {name: jnp.stack([w[f"model.layers.{layer}.{name}"] for layer in range(LLAMA["layers"])]) for name in rest}
    return {"blocks": rows} | {name: array for name, array in w.items() if not name.startswith("model.layers.")}


def looped(w: dict[str, Any], batch: dict[str, Any], reverse: bool = False) -> jax.Array:
    """The logits of a Llama whose layers are a loop: `reverse` from the last to the first."""

    def layer(x: jax.Array, own: dict[str, Any]) -> tuple[jax.Array, None]:
        h = rms_norm(own, "input_layernorm", x, 1e-5)
        q, k, v = (linear(own, f"self_attn.{part}_proj", h) for part in "qkv")
        q, k, v = heads(q, LLAMA["heads"]), heads(k, LLAMA["kv_heads"]), heads(v, LLAMA["kv_heads"])
        x = x + linear(own, "self_attn.o_proj", attention(rope(q), rope(k), v, causal(x.shape[1])))
        h = rms_norm(own, "post_attention_layernorm", x, 1e-5)
        gate, up = (linear(own, f"mlp.{part}_proj", h) for part in ("gate", "up"))
        return x + linear(own, "mlp.down_proj", jax.nn.silu(gate) * up), None

    x = w["model.embed_tokens.weight"][batch["tokens"][:, :-1]]
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, w["blocks"], reverse=reverse)
    return linear(w, "lm_head", rms_norm(w, "model.norm", x, 1e-5))


def test_weights_lie_as_they_do_on_a_mesh_of_jax() -> None:
    """Those of a loop over layers too; each rank then has the part that a device of JAX has."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("batch", "model"))

    def put(shape: tuple[int, ...], *spec: Any) -> jax.Array:
        array: jax.Array = jax.device_put(jnp.ones(shape) / 8, NamedSharding(mesh, PartitionSpec(*spec)))
        return array

    layers = {"up": put((3, 4, 8), None, None, "model"), "down": put((3, 8, 4), None, ("batch", "model")), "bias": put((3, 8))}
    params = {"head": put((4, 2), "model"), "layers": layers}

    def loss(params: Any, batch: Any) -> Any:
        block = lambda x, own: (x + jnp.tanh(x @ own["up"] + own["bias"]) @ own["down"], None)  # noqa: E731
        x, _ = jax.lax.scan(block, batch, params["layers"])
        return jnp.mean((x @ params["head"]) ** 2)

    batch = jnp.linspace(-1, 1, 16).reshape(4, 4)
    model = halite.jax.model(loss, params, batch)
    place = model.place(params, "model")
    rows = {f"layers.{at}.{part}": dims for at in range(3) for part, dims in (("up", ["", "tensor"]), ("down", ["tensor", ""]))}
    assert place == {"head": ["tensor", ""], **rows}
    abstract = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding), params)
    assert model.place(abstract, "model") == place

    parallel = {"data": 2, "tensor": 2, "place": place}
    step = halite.jax.train_step(halite.compile(model, precision="fp64", roles=["train_step"], parallel=parallel))
    state = step.init(0) | step.put_state(step.tensors(step.init(0)) | model.weights(params))
    assert {name: state[name].addressable_shards[0].data.shape for name in ("head", "layers.0.up", "layers.2.down")} == {
        "head": (2, 2),
        "layers.0.up": (4, 4),
        "layers.2.down": (4, 4),
    }
    _, metrics = step.jit()(state, batch)
    np.testing.assert_allclose(metrics["loss"], loss(params, batch), rtol=1e-12)
    with pytest.raises(halite.Error, match=r"an axis `tensor`: their axes are \['batch', 'model'\]"):
        model.place(params)
    with pytest.raises(halite.Error, match="an axis `tensor`: none has a `NamedSharding`"):
        model.place(jax.tree.map(np.asarray, params))
    layers["bias"] = put((4, 8), "model")
    with pytest.raises(halite.Error, match="`layers.bias` is sharded along `model` by its layers"):
        model.place(params, "model")


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_of_a_loop_over_layers_are_weights_of_layers(reverse: bool) -> None:
    """A Llama whose layers are a loop has calls of one function, the gradients of JAX, and goes over stages."""
    sizes: dict[str, Any] = {**LLAMA, "batch": 8, "seq": 32, "precision": "fp64", "roles": ["train_step"]}
    step = halite.jax.train_step(halite.compile("llama", **sizes))
    start = {name: array for name, array in step.tensors(step.init(3)).items() if not name.startswith(("m.", "v.", "step"))}
    batch = {"tokens": np.random.default_rng(5).integers(0, LLAMA["vocab"], (8, 33)).astype(np.int32)}
    params = stacked(start)

    def loss(w: dict[str, Any], batch: dict[str, Any]) -> Any:
        return cross_entropy(looped(w, batch, reverse), batch["tokens"][:, 1:])

    model = halite.jax.model(loss, params, batch, causal=True)
    assert model.ir.count("callee = @blocks}") == LLAMA["layers"], model.ir
    assert model.stacks["blocks.mlp.up_proj.weight"] == [f"blocks.{layer}.mlp.up_proj.weight" for layer in range(LLAMA["layers"])]
    back = model.params(model.weights(params))
    jax.tree.map(np.testing.assert_array_equal, back, params)
    metrics, gradients = grads_of(model, params, batch)
    (total, _), expected = jax.value_and_grad(loss, has_aux=True)(params, batch)
    np.testing.assert_allclose(metrics["loss"], total, rtol=1e-12)
    check_close(gradients, expected)
    halite.compile(model, precision="fp64", roles=["train_step"], parallel={"pipeline": 2}, accumulate=2)


def run(bundle: halite.Bundle, start: Any, batches: list[dict[str, Any]]) -> list[float]:
    """The losses of updates from a state."""
    step = halite.jax.train_step(bundle)
    state, update, losses = step.put_state(start), step.jit(), []
    for batch in batches:
        state, metrics = update(state, step.put_batch(batch))
        losses.append(float(metrics["loss"]))
    return losses


def perceptron(params: Any, batch: Any) -> jax.Array:
    """The mean squared error of two layers, from a pytree of lists and tuples."""
    (first, bias), (second,) = params["dense"]
    return jnp.mean((jax.nn.gelu(batch["x"] @ first + bias) @ second - batch["y"]) ** 2)


PARAMS = {"dense": [(jnp.full((4, 8), 0.1), jnp.zeros(8)), (jnp.ones((8, 2)),)]}
BATCH = {"x": jnp.linspace(0, 1, 24).reshape(6, 4), "y": jnp.ones((6, 2))}


def test_a_pytree_goes_there_and_back() -> None:
    model = halite.jax.model(perceptron, PARAMS, BATCH)
    assert [item.name for item in model.inputs] == ["dense.0.0", "dense.0.1", "dense.1.0", "x", "y"]
    assert [item.init for item in model.inputs[:3]] == [halite.constant(0.1), halite.zeros, halite.ones]
    back = model.params(model.weights(PARAMS))
    assert str(jax.tree.structure(back)) == str(jax.tree.structure(PARAMS))
    jax.tree.map(np.testing.assert_array_equal, back, PARAMS)
    metrics, gradients = grads_of(model, PARAMS, BATCH)
    loss, expected = jax.value_and_grad(perceptron)(PARAMS, BATCH)
    np.testing.assert_allclose(metrics["loss"], loss, rtol=1e-12)
    check_close(gradients, expected)


def test_weights_of_several_types_are_stored_in_the_widest() -> None:
    """A function that narrows some of its weights is one that reads narrow ones."""
    narrow = jnp.linspace(-1, 1, 12).reshape(4, 3).astype(jnp.bfloat16)
    params = {"narrow": narrow, "half": jnp.ones(3, jnp.float16) / 3, "wide": jnp.linspace(0, 1, 3, dtype=jnp.float32)}

    def loss(params: Any, batch: Any) -> jax.Array:
        assert {name: leaf.dtype for name, leaf in params.items()} == {"narrow": jnp.bfloat16, "half": jnp.float16, "wide": jnp.float32}
        return jnp.mean((batch @ params["narrow"].astype(jnp.float32) * params["half"] + params["wide"]) ** 2)

    batch = jnp.linspace(-1, 1, 8, dtype=jnp.float32).reshape(2, 4)
    model = halite.jax.model(loss, params, batch)
    bundle = halite.compile(model, precision="fp32", roles=["train_step", "grads"])
    assert {array.dtype for array in model.weights(params).values()} == {np.dtype(np.float32)}
    grads = halite.jax.grads(bundle)
    metrics, gradients = grads(grads.put_state(model.weights(params)), batch)
    expected, leaves = jax.value_and_grad(loss)(params, batch)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-6)
    for name, leaf in model.params(grads.tensors(gradients)).items():
        np.testing.assert_allclose(leaf, leaves[name].astype(jnp.float32), rtol=2e-2 if name != "wide" else 1e-6)


def test_a_number_among_parameters_takes_the_type_of_what_it_meets() -> None:
    """Numbers of Python are of no type of their own in JAX, beside weights of one type and of several."""
    for dtype in (jnp.bfloat16, jnp.float32):
        params = {"w": jnp.ones((4, 3), dtype), "scale": 2.0}
        found: list[Any] = []

        def loss(params: Any, batch: Any, found: list[Any] = found) -> jax.Array:
            y = params["w"] * params["scale"]
            found.append(y.dtype)
            return jnp.mean((batch @ y.astype(jnp.float32)) ** 2)

        halite.jax.model(loss, params, jnp.ones((2, 4), jnp.float32))
        assert found == [dtype]


def test_keys_that_are_numbered_are_a_list() -> None:
    """As Flax numbers modules, and Haiku: of one structure, from 0 without a gap."""
    layer = {"kernel": jnp.ones((4, 4))}
    params = {
        **{name: layer for name in ("layer_0", "layer_1", "gap_1", "gap_2", "one", "one1", "two", "two_0", "two_1", "out_0")},
        **{name: layer for name in ("net/block/~/linear", "net/block_1/~/linear", "net/block_2/~/linear")},
        "out_1": {"kernel": jnp.ones((4, 2))},
    }

    def loss(params: Any, batch: Any) -> jax.Array:
        x = batch["x_0"] + batch["x_1"]
        for name in [*sorted(params.keys() - {"out_1"}), "out_1"]:
            x = x @ params[name]["kernel"]
        return jnp.mean(x)

    batch = {"x_0": jnp.ones((2, 4)), "x_1": jnp.ones((2, 4))}
    names = [item.name.removesuffix(".kernel") for item in halite.jax.model(loss, params, batch).inputs]
    blocks = ["net.block.0.linear", "net.block.1.linear", "net.block.2.linear"]
    alone = ["one", "one1", "out_0", "out_1", "two", "two_0", "two_1"]
    assert names == ["gap_1", "gap_2", "layer.0", "layer.1", *blocks, *alone, "x_0", "x_1"]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("function", [jax.scipy.special.erfc, jnp.arcsinh, jnp.sinh, jax.scipy.special.erfinv])
def test_gradients_are_finite_where_a_branch_is_not_taken(function: Callable[[Any], Any], dtype: Any) -> None:
    """Functions that are computed in another way for small and for large numbers, at both and in between."""
    at = jnp.asarray([0, 1e-30, 1e-3, 0.1, 0.3, 0.7, 0.99], dtype)
    x = jnp.concatenate([-at, at] if function is jax.scipy.special.erfinv else [-at, at, 3 * at, 30 * at])
    params = {"w": jnp.ones(x.shape, dtype)}

    def loss(params: Any, batch: Any) -> jax.Array:
        return jnp.sum(function(params["w"] * batch))

    model = halite.jax.model(loss, params, x[None])
    precision = "fp32" if dtype == jnp.float32 else "fp64"
    grads = halite.jax.grads(halite.compile(model, precision=precision, roles=["train_step", "grads"]))
    _, gradients = grads(grads.put_state(model.weights(params)), x[None])
    expected = jax.grad(loss)(params, x)
    np.testing.assert_allclose(model.params(grads.tensors(gradients))["w"], expected["w"], rtol=2e-5)


@pytest.mark.parametrize("at", [-1, 0, 1, 7])
def test_branches_are_those_that_data_choose(at: int) -> None:
    """Of one that is not taken neither value nor gradient matters, though it is computed."""
    branches = [jnp.sin, lambda x: jnp.log(x - 9.0), lambda x: x / (x - x) + jnp.sqrt(x), jnp.exp]

    def loss(params: Any, batch: Any) -> jax.Array:
        x = params["w"] * batch["x"]
        y = jax.lax.switch(batch["at"][0], branches if at != 1 else branches[:1] * 2 + branches[1:], x)
        return jnp.sum(jax.lax.cond(batch["at"][0] > 5, lambda y: y * y, lambda y: y + x, y))

    params, batch = {"w": jnp.linspace(0.5, 2.0, 4)}, {"x": jnp.linspace(0.1, 0.9, 12).reshape(3, 4), "at": jnp.array([at])}
    metrics, gradients = grads_of(halite.jax.model(loss, params, batch), params, batch)
    expected, leaves = jax.value_and_grad(loss)(params, batch)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-12)
    check_close(gradients, leaves)


def test_shapes_without_values_are_enough() -> None:
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), (PARAMS, BATCH))
    bundle = halite.compile(halite.jax.model(perceptron, *shapes), roles=["train_step"])
    assert [weight.shape for weight in bundle.manifest.buffers if weight.slot == "weight"] == [(4, 8), (8,), (8, 2)]


def train_step(model: Any) -> bytes:
    return halite.compile(model, roles=["train_step"]).hlo("train_step")


@pytest.mark.parametrize("ending", ["mlir", "pb"])
def test_a_saved_model_is_the_model(ending: str, tmp_path: Path) -> None:
    model = halite.jax.model(perceptron, PARAMS, BATCH, name="saved")
    model.save(tmp_path / f"saved.{ending}")
    assert train_step(str(tmp_path / f"saved.{ending}")) == train_step(model)
    with pytest.raises(halite.Error, match="ends neither in `.mlir` nor in `.pb`"):
        model.save(tmp_path / "saved.txt")


FUNCTION = """func.func @main(%x: tensor<8x4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}"""

HEADS = ["", "module {", "module @m {", "module @m attributes {mhlo.num_replicas = 1 : i32} {", 'module attributes {mhlo.frontend_attributes = {"a" = "b"}} {']


@pytest.mark.parametrize("head", HEADS)
def test_roles_are_written_into_any_text(head: str, tmp_path: Path) -> None:
    """Roles that are there already give way to those of the program."""
    text = f"{head}\n{FUNCTION}\n}}" if head else FUNCTION
    for name in ("first", "second"):
        inputs = [Input("x", "batch"), Input(name, "weight", halite.ones)]
        program = halite.Program(text, inputs, [Output("loss", "loss")], name="m")
        program.save(tmp_path / "m.mlir")
        text = (tmp_path / "m.mlir").read_text()
        assert text.count("mhlo.frontend_attributes") == 1 and ('"a" = "b"' in text) == ('"a"' in head)
        assert train_step(str(tmp_path / "m.mlir")) == train_step(program)


def random(params: Any, batch: Any) -> jax.Array:
    return perceptron(params, batch) + jax.random.normal(jax.random.key(0))


def model_of(loss: Callable[[Any, Any], Any], params: Any = PARAMS, batch: Any = BATCH, **options: Any) -> Callable[[], Any]:
    return lambda: halite.compile(halite.jax.model(loss, params, batch, **options), roles=["train_step"])


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a vector": (model_of(lambda p, b: jnp.sum(p["dense"][1][0], 0)), r"`loss` returns 1 values of shapes \[\(2,\)\]"),
    "three results": (model_of(lambda p, b: (1.0, 2.0, 3.0)), "`loss` returns 3 values"),
    "outputs": (model_of(perceptron, outputs=lambda p, b: b["x"]), "`outputs` returns a"),
    "whole numbers": (model_of(lambda p, b: jnp.sum(p["w"] * b), {"w": jnp.ones(4, jnp.int32)}, jnp.ones((2, 4))), "the weight `w` of the program is `s32`"),
    "unread": (model_of(lambda p, b: jnp.sum(b["x"] @ p["dense"][0][0])), "does not depend on the weight `dense.0.1`"),
    "a scalar batch": (model_of(lambda p, b: jnp.sum(p["w"] * b), {"w": jnp.ones(4)}, jnp.ones(())), "the batch `batch` of the program is a single number"),
    "no batch": (model_of(lambda p, b: jnp.sum(p["w"] ** 2), {"w": jnp.ones(4)}, {}), "takes no batch"),
    "one name": (model_of(lambda p, b: jnp.sum(p["a b"] * p["a-b"] * b), {"a b": jnp.ones(4), "a-b": jnp.ones(4)}, jnp.ones((2, 4))), "two leaves are called `a_b`"),
    "a name": (model_of(perceptron, name="a model"), "a model cannot be named `a model`"),
    "random bits": (model_of(random), "draws random numbers that do not follow from the batch"),
    "another size": (lambda: halite.compile(halite.jax.model(perceptron, PARAMS, BATCH), batch=5, roles=["train_step"]), "the recipe states 5 sequences in all"),
}


def own_softmax(params: Any, batch: Any) -> jax.Array:
    """With a softmax of its own, as many write it."""
    x = batch["x"] @ params["w"]
    scores = jnp.exp(x - jax.lax.stop_gradient(x.max(-1, keepdims=True)))
    return jnp.mean((scores / scores.sum(-1, keepdims=True) - 0.5) ** 2)


def straight_through(params: Any, batch: Any) -> jax.Array:
    """Weights that are rounded in the forward."""
    w = params["w"]
    rounded = w + jax.lax.stop_gradient(jnp.round(w * 4) / 4 - w)
    return jnp.mean((batch["x"] @ rounded) ** 2)


def codebook(params: Any, batch: Any) -> jax.Array:
    """Both losses of a VQ-VAE, in a loop, in a branch and beside a checkpoint."""
    stop = jax.lax.stop_gradient

    @jax.checkpoint
    def near(x: jax.Array) -> jax.Array:
        at = jnp.argmin(jnp.sum((x[:, None] - params["codes"][None]) ** 2, -1), -1)
        code = params["codes"][at]
        return jnp.mean((stop(x) - code) ** 2) + 0.25 * jnp.mean((x - stop(code)) ** 2) + jnp.mean((x + stop(code - x)) ** 2)

    def round_of(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = jnp.tanh(x @ w) + stop(x)
        return x, near(x)

    x, losses = jax.lax.scan(round_of, batch["x"], params["layers"])
    taken = jax.vmap(lambda row: jax.lax.cond(row[0] > 0, lambda row: stop(row) * row, lambda row: row * 2, row))(x)
    return jnp.sum(losses) + jnp.mean(taken)


WIDE = {"x": np.random.default_rng(5).normal(size=(6, 4))}
SQUARE = {"w": np.random.default_rng(6).normal(size=(4, 4))}
CODES = {"codes": np.random.default_rng(7).normal(size=(3, 4)), "layers": np.random.default_rng(8).normal(size=(2, 4, 4))}
STOPPED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "softmax": (own_softmax, SQUARE),
    "straight through": (straight_through, SQUARE),
    "codebook": (codebook, CODES),
    "a frozen weight": (lambda p, b: jnp.sum(b["x"] @ jax.lax.stop_gradient(p["w"]) * jnp.sum(p["codes"])), {**SQUARE, "codes": CODES["codes"]}),
}


@pytest.mark.parametrize("case", STOPPED)
def test_no_gradient_goes_through_a_stop(case: str, tmp_path: Path) -> None:
    loss, params = STOPPED[case]
    model = halite.jax.model(loss, params, WIDE, name="saved")
    metrics, gradients = grads_of(model, params, WIDE)
    expected, leaves = jax.value_and_grad(loss)(params, WIDE)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-12)
    check_close(gradients, leaves)
    for ending in ("mlir", "pb"):
        model.save(tmp_path / f"saved.{ending}")
        assert train_step(str(tmp_path / f"saved.{ending}")) == train_step(model)


@jax.custom_vjp
def rounded(x: jax.Array) -> jax.Array:
    """Straight through in the backward."""
    return jnp.round(x)


rounded.defvjp(lambda x: (jnp.round(x), None), lambda _, ct: (ct,))


@jax.custom_vjp
def clipped(x: jax.Array) -> jax.Array:
    """Itself, with a gradient that is not linear in what it is given."""
    return x


clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -0.01, 0.02),))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def chosen(power: int, x: jax.Array, at: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Of whole numbers too, with two values, residuals and a `relu` within."""
    return jax.nn.relu(x[at]) ** power * scale, at + 1


def _chosen(power: int, x: jax.Array, at: jax.Array, scale: jax.Array) -> Any:
    return chosen(power, x, at, scale), (jnp.exp(x), at, scale)


def _of_chosen(power: int, kept: Any, ct: Any) -> Any:
    exp, at, scale = kept
    return exp.at[at].add(power * ct[0]), None, jnp.sum(ct[0] * exp[at]) + 0 * scale


chosen.defvjp(_chosen, _of_chosen)


@jax.custom_jvp
def doubled(x: jax.Array, y: jax.Array) -> jax.Array:
    """Whose rule calls it."""
    return jnp.sin(x) * y


@doubled.defjvp
def _doubled(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return doubled(x, y), 2 * jnp.cos(x) * y * dx + 3 * doubled(x, dy)


def in_a_loop(params: Any, batch: Any) -> jax.Array:
    """In a scan, a checkpoint, a branch, under `vmap` and `jit`; one within another."""

    @jax.custom_vjp
    def outer(x: jax.Array) -> jax.Array:
        return doubled(x, clipped(x))

    outer.defvjp(lambda x: (outer(x), x), lambda x, ct: (clipped(ct) * jax.nn.relu(x) + jax.lax.cond(x.sum() > 0, doubled, doubled, x, ct),))

    @jax.checkpoint
    def round_of(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = jax.vmap(outer)(x @ w)
        return x, jnp.mean(jax.jit(doubled)(x, w[:1]))

    x, losses = jax.lax.scan(round_of, batch["x"], params["layers"])
    return jnp.sum(losses) + jnp.mean(jax.lax.cond(x[0, 0] > 0, clipped, rounded, x) ** 2)


AT_ZERO = {"w": np.array([0.0, 1.0, -1.0, 7.0]), "more": np.array([0.0, 0.5, 6.0, -3.0])}
RULED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "straight through": (lambda p, b: jnp.mean((b["x"] @ rounded(p["w"])) ** 2), SQUARE),
    "clipped": (lambda p, b: jnp.mean(clipped(b["x"] @ clipped(p["w"])) ** 2), SQUARE),
    "several values": (lambda p, b: jnp.mean((b["x"] @ chosen(2, p["w"], jnp.array([2, 0, 2, 1]), p["codes"][0, 0])[0]) ** 2), {**SQUARE, "codes": CODES["codes"]}),
    "a forward rule": (lambda p, b: jnp.mean(doubled(b["x"] @ p["w"], p["w"][0])), SQUARE),
    "in a loop": (in_a_loop, {"layers": CODES["layers"]}),
    "of JAX": (
        lambda p, b: jnp.mean(jnp.sum(b["x"], 0) * (jax.nn.relu(p["w"]) + jax.nn.relu6(p["more"]) + jax.scipy.special.xlogy(p["w"], p["w"] + 2) + jax.nn.softmax(p["w"]))),
        AT_ZERO,
    ),
}


@pytest.mark.parametrize("case", RULED)
def test_a_rule_for_a_gradient_holds(case: str, tmp_path: Path) -> None:
    loss, params = RULED[case]
    model = halite.jax.model(loss, params, WIDE, name="saved")
    metrics, gradients = grads_of(model, params, WIDE)
    expected, leaves = jax.value_and_grad(loss, allow_int=True)(params, WIDE)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-12)
    check_close(gradients, leaves)
    for ending in ("mlir", "pb"):
        model.save(tmp_path / f"saved.{ending}")
        assert train_step(str(tmp_path / f"saved.{ending}")) == train_step(model)


def test_a_softmax_that_stops_its_maximum_is_softmax() -> None:
    bundle = halite.compile(halite.jax.model(own_softmax, SQUARE, WIDE), roles=["train_step"], explain=True)
    assert "softmax" in {remark.rule for remark in bundle.remarks if remark.taken}


def test_random_numbers_may_follow_from_the_batch() -> None:
    """Dropout by a key of the batch is that of JAX."""

    def loss(params: Any, batch: Any) -> jax.Array:
        kept = jax.random.bernoulli(jax.random.wrap_key_data(batch["key"]), 0.5, (6, 4))
        return perceptron(params, {**batch, "x": jnp.where(kept, batch["x"], 0)})

    batch = {**BATCH, "key": jax.random.key_data(jax.random.key(3))}
    metrics, gradients = grads_of(halite.jax.model(loss, PARAMS, batch), PARAMS, batch)
    expected, leaves = jax.value_and_grad(loss)(PARAMS, batch)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-12)
    check_close(gradients, leaves)


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_model_is_refused(case: str) -> None:
    make, message = WRONG[case]
    with pytest.raises(halite.Error, match=message) as error:
        make()
    assert error.value.diagnostics[0].help


def test_other_parameters_are_refused() -> None:
    model = halite.jax.model(perceptron, PARAMS, BATCH)
    with pytest.raises(halite.Error, match="the parameters are"):
        model.weights({"dense": []})
    with pytest.raises(halite.Error, match="the weight `dense.1.0` is not among the tensors"):
        model.params({"dense.0.0": 1, "dense.0.1": 2})


