"""The step of `jax_step.py` on a mesh, as XLA's SPMD partitioner makes it from shardings.

`naive` is what users write: weights sharded as in Megatron, the batch along `data`, and where the sequence is shared the residual
stream constrained to that. `strong` has one projection for queries, keys and values and one for gate and up, so that cotangents
of what they read are summed once, and constrains the residual stream always. `remat` is `strong` with the core of attention and
the activation under `jax.checkpoint`. With ZeRO-1 both moments of AdamW are sharded along `data` too. Along `fsdp` the state of each
matrix is sharded; `naive` says no more, and `strong` gathers a layer's weights in the layer.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jax_step
from agree import is_transposed, jax_names
from jax_step import linear, rms_norm, rotate
from substitute import substituted

VARIANTS = ("naive", "strong", "remat")
BATCH = ("data", "fsdp")
METRICS = ("grad_norm", "learning_rate", "loss")
# The dimension of a weight that is shared along `tensor`; norms are not.
SHARED = {
    "embed": 0, "lm_head": 1,
    "q": 1, "k": 1, "v": 1, "o": 0, "gate": 1, "up": 1, "down": 0,
    "qkv": 2, "gate_up": 2,
}
MERGED = {"qkv": ("q", "k", "v"), "gate_up": ("gate", "up")}


def merged(layer):
    """A layer's weights where projections of one input are one, of shape [in, parts, out]: a shard has some of each part."""
    rest = {name: weight for name, weight in layer.items() if not any(name in parts for parts in MERGED.values())}
    return rest | {name: np.stack([layer[part] for part in parts], axis=1) for name, parts in MERGED.items()}


def merged_shapes(plain, c):
    """The shapes of these."""
    shapes = plain(c)
    parts = {name: [shapes.pop(part) for part in parts] for name, parts in MERGED.items()}
    return shapes | {name: (each[0][0], len(each), each[0][1]) for name, each in parts.items()}


def merged_linear(x, weight):
    """One product; its parts."""
    y = jnp.einsum("bsh,hpd->bspd", x, weight)
    return [y[:, :, part] for part in range(weight.shape[1])]


def merged_attention(c, x, w, rope, mask):
    batch, seq, _ = x.shape
    q, k, v = (part.reshape(batch, seq, c.heads, c.hidden // c.heads) for part in merged_linear(x, w["qkv"]))
    return linear(jax_step.core(mask, rotate(q, rope), rotate(k, rope), v).reshape(batch, seq, c.hidden), w["o"])


def merged_mlp(h, w):
    return linear(jax_step.activation(*merged_linear(h, w["gate_up"])), w["down"])


def plain_mlp(h, w):
    return linear(jax_step.activation(linear(h, w["gate"]), linear(h, w["up"])), w["down"])


def held_layer(attention, mlp, hold, c, rope, mask, x, w):
    """A layer whose residual stream is constrained wherever it is made."""
    x = hold(x)
    x = hold(x + attention(c, rms_norm(x, w["attention_norm"]), w, rope, mask))
    return hold(x + mlp(rms_norm(x, w["mlp_norm"]), w))


def gathered(mesh, weights):
    """Matrices of a layer, or of the whole model, as they are computed with: along `tensor` alone."""
    def whole(name, weight):
        axes = ["tensor" if dim == SHARED[name] else None for dim in range(weight.ndim)]
        return jax.lax.with_sharding_constraint(weight, NamedSharding(mesh, PartitionSpec(*axes)))

    return {name: whole(name, weight) if name in SHARED else weight for name, weight in weights.items()}


def gathered_layer(layer, mesh, c, rope, mask, x, w):
    return layer(c, rope, mask, x, gathered(mesh, w))


def gathered_loss(loss, mesh, c, precision, variant, weights, tokens):
    return loss(c, precision, variant, gathered(mesh, weights), tokens)


def replacements(variant, layout, mesh):
    """What takes the place of functions of `jax_step.py`."""
    stream = NamedSharding(mesh, PartitionSpec(BATCH, "tensor" if layout.sequence else None, None))
    hold = partial(jax.lax.with_sharding_constraint, shardings=stream)
    if variant == "naive":
        return {"layer": partial(held_layer, jax_step.attention, plain_mlp, hold)} if layout.sequence else {}
    shapes = partial(merged_shapes, jax_step.layer_shapes)
    layer = partial(held_layer, merged_attention, merged_mlp, hold)
    if layout.fsdp > 1:
        layer = partial(gathered_layer, layer, mesh)
    strong = {"layer": layer, "layer_shapes": shapes}
    if layout.fsdp > 1:
        strong["loss"] = partial(gathered_loss, jax_step.loss, mesh)
    wrapped = ("core", "activation") if variant == "remat" else ()
    return strong | {name: jax.checkpoint(getattr(jax_step, name)) for name in wrapped}


def mesh_of(layout):
    devices = np.array(jax.devices()).reshape(layout.data, layout.fsdp, layout.tensor)
    return Mesh(devices, ("data", "fsdp", "tensor"))


def state_sharding(layout, mesh, path, leaf):
    """How one array of the state lies."""
    keys = [getattr(key, "key", None) for key in path]
    axes = [None] * leaf.ndim
    if keys[-1] in SHARED:
        axes[SHARED[keys[-1]]] = "tensor"
    if layout.fsdp > 1 and keys[-1] in SHARED:
        free = [dim for dim, size in enumerate(leaf.shape) if axes[dim] is None and size % layout.fsdp == 0]
        axes[free[0]] = "fsdp"
    if layout.zero and keys[0] in "mv":
        free = [dim for dim, size in enumerate(leaf.shape) if axes[dim] is None and size % layout.data == 0]
        axes[free[0]] = "data"
    return NamedSharding(mesh, PartitionSpec(*axes))


class SpmdStep:
    """JAX's step compiled for a layout and, once it is given a state, ready to be run again and again."""

    def __init__(self, c, variant, layout, compiler_options):
        mesh = mesh_of(layout)
        self.config, self.is_merged = c, variant != "naive"
        with substituted(jax_step, **replacements(variant, layout, mesh)):
            shapes = jax_step.state_shapes(c, "unrolled")
            lies = jax.tree_util.tree_map_with_path(partial(state_sharding, layout, mesh), shapes)
            self.shardings = lies, NamedSharding(mesh, PartitionSpec(BATCH))
            metrics = dict.fromkeys(METRICS, NamedSharding(mesh, PartitionSpec()))
            step = jax.jit(
                partial(jax_step.train_step, c, "fp32", "unrolled"),
                donate_argnums=0, in_shardings=self.shardings, out_shardings=(lies, metrics),
            )
            self.executable = step.lower(shapes, jax_step.tokens_shape(c)).compile(compiler_options=compiler_options)
        self.arguments = None

    def text(self):
        """The HLO of one device, as XLA optimized it."""
        return self.executable.as_text()

    def temp_bytes(self):
        return self.executable.memory_analysis().temp_size_in_bytes

    def put(self, values):
        """Gives each device its part of whole values by Halite's names."""
        leaves = [values[name].T if is_transposed(name) else values[name] for name in jax_names(self.config)]
        state = jax.tree.unflatten(jax.tree.structure(jax_step.state_shapes(self.config, "unrolled")), leaves)
        if self.is_merged:
            for slot in ("weights", "m", "v"):
                state[slot] = state[slot] | {"layers": [*map(merged, state[slot]["layers"])]}
        self.arguments = jax.device_put((state, values["tokens"]), self.shardings)

    def once(self):
        """One step, whose state becomes that of the next one. Its metrics."""
        state, tokens = self.arguments
        state, metrics = self.executable(state, tokens)
        self.arguments = state, tokens
        return jax.block_until_ready(metrics)

    @staticmethod
    def metrics(answers):
        return {name: float(answers[name]) for name in ("loss", "grad_norm")}
