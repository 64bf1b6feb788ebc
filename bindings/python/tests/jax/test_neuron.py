"""Bundles for Neuron as far as machines without it go: lowered by JAX for its platform, refused elsewhere, environments compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import halite
import halite.jax
import jax
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
OPTIMIZER = {"adamw": {"lr": 1e-3, "weight_decay": 0.1, "clip_norm": 1.0}}
MESH = {"data": 2, "tensor": 4}


def compiled(layout: dict[str, Any] | None = None, target: str = "trn2") -> halite.Bundle:
    sizes: dict[str, Any] = {"layers": 1, "hidden": 128, "heads": 8, "kv_heads": 4, "ffn": 128, "batch": 4, "seq": 128}
    parallel: dict[str, Any] = {"parallel": layout} if layout else {}
    return halite.compile("tiny", target=target, optimizer=OPTIMIZER, **sizes, **parallel)


def lowered(step: halite.jax.TrainStep) -> str:
    """What JAX would hand to Neuron's plugin."""
    traced = jax.jit(step, donate_argnums=0).trace(step.abstract_state(), step.abstract_batch())
    return str(traced.lower(lowering_platforms=("neuron",)).as_text())


def test_a_step_with_kernels_is_lowered_for_neuron() -> None:
    bundle = compiled()
    module = bundle.manifest.module("train_step")
    assert module is not None and module.kernels
    calls = re.findall(r"custom_call @(AwsNeuron\w+)", lowered(halite.jax.train_step(bundle)))
    own = re.findall(r'call_target_name = "(AwsNeuron\w+)"', bundle.stablehlo("train_step"))
    assert {"AwsNeuronSoftmax", "AwsNeuronSilu"} <= set(own)
    assert sorted(calls) == sorted(own)


def test_a_step_on_a_mesh_is_lowered_for_neuron() -> None:
    text = lowered(halite.jax.train_step(compiled(MESH)))
    assert "all_reduce" in text
    assert "mhlo.num_partitions = 8" in text


def test_a_call_on_another_platform_is_refused() -> None:
    step = halite.jax.train_step(compiled())
    with pytest.raises(halite.Error, match=r"kernels of the platform `neuron`, and JAX compiles it for \['cpu'\]"):
        step.jit()(step.init(), step.put_batch(jax.numpy.zeros((4, 129), "int32")))


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> halite.Bundle:
    """A bundle, in the environment that its manifest states."""
    bundle = compiled(MESH)
    manifest = bundle.manifest
    assert manifest.launch is not None
    for name in manifest.launch.forbidden:
        monkeypatch.delenv(name, raising=False)
    for name, value in manifest.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NEURON_CC_FLAGS", " ".join(manifest.flags))
    return bundle


def test_the_environment_of_the_manifest_passes(launched: halite.Bundle) -> None:
    halite.jax.check_environment(launched)


def test_other_environments_are_refused(launched: halite.Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEURON_LOGICAL_NC_CONFIG")
    monkeypatch.setenv("NEURON_CC_FLAGS", "--target=trn2 --optlevel=1")
    monkeypatch.setenv("XLA_USE_BF16", "1")
    with pytest.raises(halite.Error) as caught:
        halite.jax.check_environment(launched)
    messages = [diagnostic.message for diagnostic in caught.value.diagnostics]
    assert [message.split("`")[1] for message in messages] == ["NEURON_LOGICAL_NC_CONFIG", "NEURON_CC_FLAGS", "XLA_USE_BF16"]
    assert messages[0].startswith("`NEURON_LOGICAL_NC_CONFIG` is not set, and the bundle needs `2`")


def test_other_bundles_need_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_USE_BF16", "1")
    halite.jax.check_environment(compiled(target="cpu"))


def test_the_example_compares_its_environment_first(tmp_path: Path) -> None:
    compiled(MESH).write(tmp_path / "step")
    command = [sys.executable, str(EXAMPLES / "train_trn2.py"), str(tmp_path / "step"), "missing.txt"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 1
    assert "`NEURON_CC_FLAGS` is not set" in ended.stderr
    assert "never run" in subprocess.run([*command[:2], "--help"], env=environment, capture_output=True, text=True).stdout
