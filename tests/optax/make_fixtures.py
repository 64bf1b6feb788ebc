"""Writes the optax oracle fixtures: 20 updates of four small tensors by each update rule, and the factors of each schedule.

    pip install -r requirements.txt
    python make_fixtures.py           # writes fixtures/*.json

README.md beside this file describes the files.
"""

import math
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import numpy as np
import optax
from optax.contrib import MuonDimensionNumbers, muon

FIXTURES = Path(__file__).parent / "fixtures"
SEED = 0
UPDATES = 20
KEPT = (1, 2, 5, 10, 20)
SHAPES = {"a.weight": (4, 6), "b.weight": (6, 3), "norm.weight": (6,), "bias": (3,)}
MATRICES = ("a.weight", "b.weight")
VECTORS = ("norm.weight", "bias")
# The size of gradients changes from update to update, so that some are clipped and some are not, and by groups only one group is.
GRADIENT_SIZES = (1.0, 0.1, 0.03)
# Kinds of state in Halite by the names of optax.
KINDS = {"mu": "m", "nu": "v", "trace": "m"}
CLIP_EPSILON = 1e-6


@dataclass(frozen=True)
class Case:
    """A recipe and what optax does for it: for each part of the tensors its transformation."""

    recipe: str
    parts: tuple
    ema: float | None = None


def everything(transformation):
    """All tensors in one part."""
    return ((tuple(SHAPES), transformation),)


def clip_norm(limit):
    """Multiplies by `min(1, limit / (norm + 1e-6))`, as PyTorch does; `optax.clip_by_global_norm` adds nothing to the norm."""

    def clip(updates, _):
        factor = jnp.minimum(1.0, limit / (optax.tree.norm(updates) + CLIP_EPSILON))
        return jax.tree.map(lambda update: update * factor, updates)

    return optax.stateless(clip)


def adamw(lr=0.01, decay=0.0, mask=None):
    return optax.adamw(lr, b1=0.9, b2=0.95, eps=1e-8, weight_decay=decay, mask=mask)


def adam(decay=0.0):
    """Decay is added to the gradient."""
    direction = optax.scale_by_adam(b1=0.9, b2=0.95, eps=1e-8)
    return optax.chain(optax.add_decayed_weights(decay), direction, optax.scale_by_learning_rate(0.01))


def sgd(momentum=0.0, nesterov=False, decay=0.0):
    """Decay is added to the direction; without momentum there is no state."""
    direction = optax.trace(momentum, nesterov) if momentum else optax.identity()
    return optax.chain(direction, optax.add_decayed_weights(decay), optax.scale_by_learning_rate(0.1))


def lion(decay=0.0):
    return optax.lion(0.01, b1=0.9, b2=0.99, weight_decay=decay)


def matrices_by_muon(nesterov=True, decay=0.0):
    """Muon for matrices, stored `[out, in]`, and AdamW without decay for vectors."""
    rule = muon(
        0.01,
        ns_coeffs=(3.4445, -4.7750, 2.0315),
        ns_steps=5,
        beta=0.95,
        eps=1e-8,
        weight_decay=decay,
        nesterov=nesterov,
        adaptive=False,
        preconditioning="frobenius",
        muon_weight_dimension_numbers={name: MuonDimensionNumbers(1, 0) for name in MATRICES},
        consistent_rms=None,
    )
    return ((MATRICES, rule), (VECTORS, adamw()))


def lans(decay=0.0, lr=0.01, beta1=0.9, beta2=0.95, eps=1e-6):
    """Algorithm 2 of Zheng, Lin, Zha, Li 2020 (arXiv 2006.13484) with the identity as phi; a block is a tensor."""

    def init(params):
        zeros = {name: np.zeros_like(w) for name, w in params.items()}
        return optax.ScaleByAdamState(0, zeros, zeros)

    def update(grads, state, params):
        t = state.count + 1
        updates, mu, nu = {}, {}, {}
        for name, x in params.items():
            g = grads[name] / np.linalg.norm(grads[name])
            m = beta1 * state.mu[name] + (1 - beta1) * g
            v = beta2 * state.nu[name] + (1 - beta2) * g * g
            root = np.sqrt(v / (1 - beta2**t)) + eps
            r = m / (1 - beta1**t) / root + decay * x
            c = g / root + decay * x
            d = np.linalg.norm(x) * (beta1 * r / np.linalg.norm(r) + (1 - beta1) * c / np.linalg.norm(c))
            updates[name], mu[name], nu[name] = -lr * d, m, v
        return updates, optax.ScaleByAdamState(t, mu, nu)

    return optax.GradientTransformation(init, update)


def table(rule, lr, **settings):
    """`[optimizer.<rule>]`."""
    return "\n".join([f"[optimizer.{rule}]", f"lr = {lr}", *(f"{key} = {text(value)}" for key, value in settings.items())])


def text(value):
    """A value in TOML."""
    return dumps(value) if not isinstance(value, tuple) else dumps(list(value))


ADAM = {"betas": (0.9, 0.95), "eps": 1e-8}
LANS = {"betas": (0.9, 0.95), "eps": 1e-6}
LION = {"betas": (0.9, 0.99)}
MOMENTUM = {"momentum": 0.9}
NESTEROV = {"momentum": 0.9, "nesterov": True}
DECAY = {"weight_decay": 0.1}
NO_VECTORS = {"no_decay": VECTORS}
DECAYED = {name: name in MATRICES for name in SHAPES}
EMA = "[optimizer]\nema = 0.9\n\n"
GROUP_VECTORS = '\n\n[[optimizer.group]]\nname = "vectors"\nparams = ["norm.weight", "bias"]'
GROUP_B = '\n\n[[optimizer.group]]\nname = "b"\nparams = ["b.weight"]\nlr_scale = 0.1\nweight_decay = 0.02'
GROUP_MUON = (
    '\n\n[[optimizer.group]]\nname = "matrices"\nparams = ["*.weight"]\nexcept = ["norm.weight"]\n'
    "muon = {{ momentum = 0.95, nesterov = {nesterov}, steps = 5, eps = 1e-8 }}"
)
GROUPS_MUON = {nesterov: GROUP_MUON.format(nesterov=text(nesterov)) for nesterov in (True, False)}

CASES = {
    "adamw": Case(table("adamw", 0.01, **ADAM), everything(adamw())),
    "adamw-decay": Case(table("adamw", 0.01, **ADAM, **DECAY, **NO_VECTORS), everything(adamw(decay=0.1, mask=DECAYED))),
    "adamw-clip_norm": Case(table("adamw", 0.01, **ADAM, clip_norm=0.5), everything(optax.chain(clip_norm(0.5), adamw()))),
    "adamw-clip_value": Case(table("adamw", 0.01, **ADAM, clip_value=0.5), everything(optax.chain(optax.clip(0.5), adamw()))),
    "adamw-clip_group_norm": Case(
        table("adamw", 0.01, **ADAM, clip_group_norm=0.5) + GROUP_VECTORS,
        tuple((names, optax.chain(clip_norm(0.5), adamw())) for names in (MATRICES, VECTORS)),
    ),
    "adamw-groups": Case(
        table("adamw", 0.01, **ADAM, **DECAY) + GROUP_B,
        ((("a.weight", *VECTORS), adamw(decay=0.1)), (("b.weight",), adamw(lr=0.1 * 0.01, decay=0.02))),
    ),
    "adamw-ema": Case(EMA + table("adamw", 0.01, **ADAM), everything(adamw()), ema=0.9),
    "adam": Case(table("adam", 0.01, **ADAM), everything(adam())),
    "adam-decay": Case(table("adam", 0.01, **ADAM, **DECAY), everything(adam(decay=0.1))),
    "sgd": Case(table("sgd", 0.1), everything(sgd())),
    "sgd-decay": Case(table("sgd", 0.1, **DECAY), everything(sgd(decay=0.1))),
    "sgd-momentum": Case(table("sgd", 0.1, **MOMENTUM), everything(sgd(0.9))),
    "sgd-momentum-decay": Case(table("sgd", 0.1, **MOMENTUM, **DECAY), everything(sgd(0.9, decay=0.1))),
    "sgd-nesterov": Case(table("sgd", 0.1, **NESTEROV), everything(sgd(0.9, True))),
    "sgd-nesterov-decay": Case(table("sgd", 0.1, **NESTEROV, **DECAY), everything(sgd(0.9, True, decay=0.1))),
    "lion": Case(table("lion", 0.01, **LION), everything(lion())),
    "lion-decay": Case(table("lion", 0.01, **LION, **DECAY), everything(lion(decay=0.1))),
    "lans": Case(table("lans", 0.01, **LANS), everything(lans())),
    "lans-decay": Case(table("lans", 0.01, **LANS, weight_decay=0.01), everything(lans(decay=0.01))),
    "muon": Case(table("adamw", 0.01, **ADAM) + GROUPS_MUON[True], matrices_by_muon()),
    "muon-decay": Case(table("adamw", 0.01, **ADAM, **DECAY, **NO_VECTORS) + GROUPS_MUON[True], matrices_by_muon(decay=0.1)),
    "muon-no_nesterov": Case(table("adamw", 0.01, **ADAM) + GROUPS_MUON[False], matrices_by_muon(nesterov=False)),
}


def draw(rng, size):
    """Tensors of normal numbers of this standard deviation, to three decimals, by name."""
    return {name: np.round(size * rng.standard_normal(shape), 3) for name, shape in SHAPES.items()}


def select(tensors, names):
    """Some of the tensors, for optax."""
    return {name: jnp.asarray(tensors[name]) for name in names}


def state_of(states):
    """The optimizer state of all parts: tensors by kind and name."""
    found = {}
    for state in states:
        for field, kind in KINDS.items():
            for _, tensors in optax.tree.get_all_with_path(state, field):
                kept = {name: t for name, t in tensors.items() if not isinstance(t, optax.MaskedNode)}
                found[kind] = found.get(kind, {}) | kept
    return found


def compute(case):
    """The content of one fixture."""
    rng = np.random.default_rng(SEED)
    initial = draw(rng, 0.5)
    gradients = [draw(rng, GRADIENT_SIZES[index % len(GRADIENT_SIZES)]) for index in range(UPDATES)]
    params = [select(initial, names) for names, _ in case.parts]
    states = [rule.init(own) for own, (_, rule) in zip(params, case.parts)]
    average = list(params)
    after = []
    for k, gradient in enumerate(gradients, 1):
        for part, (names, rule) in enumerate(case.parts):
            updates, states[part] = rule.update(select(gradient, names), states[part], params[part])
            params[part] = optax.apply_updates(params[part], updates)
        if case.ema:
            average = optax.incremental_update(params, average, 1 - case.ema)
        if k in KEPT:
            state = state_of(states) | ({"ema": merged(average)} if case.ema else {})
            weights = merged(params)
            after.append({"update": k, "weights": numbers(weights), "state": {kind: numbers(t) for kind, t in state.items()}})
    assert all(w.dtype == np.float64 for part in (weights, *state.values()) for w in part.values())
    return {
        "recipe": case.recipe + "\n",
        "dtype": "float64",
        "shapes": {name: list(shape) for name, shape in SHAPES.items()},
        "initial": numbers(initial),
        "gradients": [numbers(gradient) for gradient in gradients],
        "after": after,
    }


def merged(parts):
    """The tensors of all parts."""
    return {name: tensor for part in parts for name, tensor in part.items()}


def numbers(tensors):
    """Tensors as flat lists, row-major, in the order of `SHAPES`."""
    return {name: np.asarray(tensors[name]).ravel().tolist() for name in SHAPES if name in tensors}


SIGNS_SHAPE = (32, 64)


def exact_gradient(k):
    """The gradient of update k: whole numbers between -1000 and 1000 over a power of two, which f32 holds exactly."""
    place = np.arange(math.prod(SIGNS_SHAPE), dtype=np.uint64) * UPDATES + k
    hashed = (place * 2654435769) % 2**32 // 256
    return ((hashed % 2001).astype(np.float64) - 1000).reshape(SIGNS_SHAPE) / (1024 * (1, 8, 32)[k % 3])


def signs():
    """The content of lion-signs.json: for each update which way it moves each element, row-major."""
    rule = lion()
    weights = {"w": jnp.zeros(SIGNS_SHAPE)}
    state = rule.init(weights)
    lines = []
    for k in range(1, UPDATES + 1):
        updates, state = rule.update({"w": jnp.asarray(exact_gradient(k))}, state, weights)
        lines.append("".join("-0+"[int(sign) + 1] for sign in np.sign(updates["w"]).ravel()))
    return {"recipe": table("lion", 0.01, **LION) + "\n", "shapes": {"w": list(SIGNS_SHAPE)}, "signs": lines}


WARMUP = 5
STEPS = 20
FLOOR = 0.1
STABLE_UNTIL = STEPS - 6
FALLING = {"warmup": WARMUP, "steps": STEPS, "floor": FLOOR}


def warm(*then):
    """Warm-up, then schedules that start at the given counts; the count is k."""
    schedules = [optax.schedules.linear_schedule(0.0, 1.0, WARMUP), *(schedule for _, schedule in then)]
    return optax.schedules.join_schedules(schedules, [start for start, _ in then])


# Settings and the factor of the peak at count k. Schedules after a warm-up count from its end. optax has no inverse square root.
SCHEDULES = {
    "constant": ({"warmup": WARMUP}, warm((WARMUP, optax.schedules.constant_schedule(1.0)))),
    "linear": (FALLING, warm((WARMUP, optax.schedules.linear_schedule(1.0, FLOOR, STEPS - WARMUP)))),
    "cosine": (FALLING, optax.schedules.warmup_cosine_decay_schedule(0.0, 1.0, WARMUP, STEPS, FLOOR)),
    "inverse_sqrt": ({"warmup": WARMUP}, lambda k: k / WARMUP if k <= WARMUP else math.sqrt(WARMUP / k)),
    "warmup_stable_decay": (
        FALLING | {"decay": STEPS - STABLE_UNTIL},
        warm(
            (WARMUP, optax.schedules.constant_schedule(1.0)),
            (STABLE_UNTIL, optax.schedules.linear_schedule(1.0, FLOOR, STEPS - STABLE_UNTIL)),
        ),
    ),
    "piecewise_constant": (
        {"warmup": WARMUP, "at": (8, 16), "factors": (0.5, 0.1)},
        warm((WARMUP, optax.schedules.piecewise_constant_schedule(1.0, {8 - WARMUP: 0.5, 16 - WARMUP: 0.1 / 0.5}))),
    ),
}


def schedule_table(shape, settings):
    """`[schedule]`."""
    return "\n".join(["[schedule]", f"shape = {text(shape)}", *(f"{key} = {text(value)}" for key, value in settings.items())])


def schedules():
    """The content of schedules.json."""
    return {
        shape: {"recipe": schedule_table(shape, settings) + "\n", "factors": [float(factor(k)) for k in range(1, 31)]}
        for shape, (settings, factor) in SCHEDULES.items()
    }


def layout(value, indent=""):
    """JSON with one line for each list of numbers."""
    inner = indent + " "
    if isinstance(value, dict):
        body = ",\n".join(f"{inner}{dumps(key)}: {layout(item, inner)}" for key, item in value.items())
        return f"{{\n{body}\n{indent}}}" if value else "{}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(inner + layout(item, inner) for item in value) + f"\n{indent}]"
    return dumps(value, separators=(",", ":"))


def main():
    FIXTURES.mkdir(exist_ok=True)
    others = [("lion-signs", signs()), ("schedules", schedules())]
    for name, content in [(name, compute(case)) for name, case in CASES.items()] + others:
        (FIXTURES / f"{name}.json").write_text(layout(content) + "\n")
    print(f"{len(CASES)} cases, the signs of Lion and {len(SCHEDULES)} schedules")


if __name__ == "__main__":
    main()
