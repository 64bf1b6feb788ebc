"""Halite's steps as functions of JAX.

A bundle is compiled for a mesh; here its program is put into programs of JAX, whose devices, processes, checkpoints and
loaders it then has.
"""

from __future__ import annotations

from jax.sharding import Mesh

from ..bundle import Bundle
from ._environment import check_environment
from ._call import call_p
from ._evaluate import Evaluate, Gradients
from ._function import Kernels
from ._jit import Jitted, exact_options
from ._model import Model, model
from ._train import TrainStep

__all__ = [
    "Evaluate",
    "Gradients",
    "Jitted",
    "Model",
    "TrainStep",
    "call_p",
    "check_environment",
    "eval",
    "exact_options",
    "forward",
    "grads",
    "model",
    "train_step",
]


def train_step(bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> TrainStep:
    """One update as a function: `state, metrics = step(state, batch)`.

    `mesh` has the axes of the bundle's; without it, the first devices that JAX has are taken. `kernels="decompose"` runs what
    kernels of a target compute where they do not exist.
    """
    return TrainStep(bundle, mesh, kernels=kernels)


def forward(bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> Evaluate:
    """What the model shows, such as `logits`: `results = forward(weights, batch)`."""
    return Evaluate(bundle, mesh, "forward", kernels)


def eval(bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> Evaluate:
    """The loss: `results = eval(weights, batch)` with `loss`, a sum over the labels that count, and their `count`."""
    return Evaluate(bundle, mesh, "eval", kernels)


def grads(bundle: Bundle, mesh: Mesh | None = None, *, kernels: Kernels = "call") -> Gradients:
    """The loss and its gradients: `metrics, gradients = grads(weights, batch)`."""
    return Gradients(bundle, mesh, kernels=kernels)
