"""The steps of models that are taken from JAX, beside the steps that JAX makes of the same functions: temporary memory and time.

    bash ../../bindings/python/environment.sh venv && venv/bin/pip install halite
    JAX_PLATFORMS=cpu venv/bin/python imported.py [--models linen bert] [--runs 30] [--scale 4]

Both steps are the loss, its gradients, a clip and AdamW, with all state donated, in f64 as the tests of these models have it; JAX's is
written with optax. Both are compiled by the XLA in jaxlib with the same options, and run in turns, as by `execute.py`. Ratios are those of
Halite over JAX: temporary memory, and the median of paired runs with its 95% interval.
"""

import argparse
import sys
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)
sys.path.insert(0, str(Path(__file__).parents[2] / "bindings/python/tests/jax"))

import frameworks
import halite
import halite.jax
import optax

from execute import Step
from peer import ratio, show_ratio

MODELS = ("linen", "nnx", "equinox", "haiku", "gemma2", "mixtral", "bert", "vit", "resnet50", "unet", "encoder_decoder")


def of_halite(tests, name, made):
    (loss, params), batch = made
    model = halite.jax.model(loss, params, batch, name=name)
    return halite.compile(model, precision="fp64", roles=["train_step"], optimizer={"adamw": tests.ADAMW}).hlo("train_step")


def of_jax(tests, made):
    (loss, params), batch = made
    rule = tests.adamw_of_jax()

    def step(state, batch):
        params, own = state
        value, gradients = jax.value_and_grad(lambda params: tests.mean(loss, params, batch))(params)
        changes, own = rule.update(gradients, own, params)
        return (optax.apply_updates(params, changes), own), value

    lowered = jax.jit(step, donate_argnums=0).lower((params, rule.init(params)), batch)
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def measured(steps, runs):
    """Temporary bytes of both steps, and seconds of runs in turns."""
    steps = {by: Step(data) for by, data in steps.items()}
    figures = {by: {"temp": step.memory()["temp_bytes"], "seconds": []} for by, step in steps.items()}
    if runs:
        for step in steps.values():
            step.warm_up(2)
    for run in range(runs):
        for by in sorted(steps, reverse=bool(run % 2)):
            figures[by]["seconds"].append(steps[by].run())
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--runs", type=int, default=30, help="pairs of runs of about 0.1 s; 0 for memory alone")
    parser.add_argument("--scale", type=int, default=1, help="how many times wider and longer the models of frameworks are")
    options = parser.parse_args()
    frameworks.HIDDEN *= options.scale
    frameworks.SEQ *= options.scale
    # They read those sizes when they are imported.
    import test_vision as tests

    print(f"{'model':16}{'temp of JAX, kB':>16}{'temp':>8}   {'step of JAX, ms':>16}   step")
    for name in options.models:
        made = tests.made(name)
        found = measured({"Halite": of_halite(tests, name, made), "JAX": of_jax(tests, made)}, options.runs)
        ours, theirs = found["Halite"], found["JAX"]
        line = f"{name:16}{theirs['temp'] / 1e3:16.1f}{ours['temp'] / theirs['temp']:8.2f}"
        if options.runs:
            seconds = sorted(theirs["seconds"])[len(theirs["seconds"]) // 2]
            line += f"   {seconds * 1e3:16.3f}   {show_ratio(ratio(ours['seconds'], theirs['seconds']))}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
