"""Writes what the tests of the front doors compare with, by Hugging Face's own implementation on the CPU.

    pip install -r requirements-4.txt # or requirements-5.txt
    python make_fixtures.py           # writes the fixtures of this major version of Transformers, and parameters.json
    python make_fixtures.py --check   # the files on disk equal what is computed now

README.md beside this file describes what is written.
"""

import argparse
import json
import platform
import re
import shutil
import tempfile
from pathlib import Path

import numpy
import safetensors
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = Path(__file__).parent
MAJOR = int(transformers.__version__.split(".")[0])
BATCH, SEQ = 2, 16
LLAMA = {
    "vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 40, "max_position_embeddings": 64, "initializer_range": 0.2,
}
SCALED = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
GPT2 = {
    "vocab_size": 48, "n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 24, "initializer_range": 0.2,
    "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
}
# Major version of Transformers, model type, config, element type of the file, size of a shard, and what must change the
# logits when it is taken away.
CASES = {
    "llama": (4, "llama", LLAMA, torch.float32, "1MB", {}),
    "llama_linear": (
        4, "llama", LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, torch.float32, "1MB",
        {"rope_scaling": None},
    ),
    "llama3": (
        4, "llama",
        LLAMA | {"rope_scaling": SCALED, "rope_theta": 500.0, "head_dim": 8, "tie_word_embeddings": True},
        torch.float32, "1MB", {"rope_scaling": None},
    ),
    "mistral": (4, "mistral", LLAMA | {"sliding_window": 5}, torch.bfloat16, "1MB", {"sliding_window": None}),
    "qwen2": (4, "qwen2", LLAMA | {"tie_word_embeddings": True}, torch.float32, "20KB", {}),
    "gpt2": (4, "gpt2", GPT2, torch.float32, "1MB", {}),
    "llama3_table": (
        5, "llama", LLAMA | {"rope_parameters": SCALED | {"rope_theta": 500.0}}, torch.bfloat16, "1MB",
        {"rope_parameters": SCALED | {"rope_theta": 10000.0}},
    ),
    "mistral_tied": (
        5, "mistral", LLAMA | {"sliding_window": None, "tie_word_embeddings": True}, torch.bfloat16, "1MB",
        {"sliding_window": 5},
    ),
    "gpt2_inner": (5, "gpt2", GPT2 | {"n_inner": 40}, torch.bfloat16, "1MB", {}),
}


def build(model_type, config):
    """A model in evaluation mode whose attention is written out."""
    config = CONFIG_MAPPING[model_type](**config)
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()


def randomize(model, dtype):
    """Moves scales and biases away from 1 and 0, so that each matters, and rounds all parameters to `dtype`."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.2 * torch.randn(parameter.shape)
            parameter.copy_(parameter.to(dtype).float())


def logits(model, tokens):
    with torch.no_grad():
        return model(tokens[:, :-1].long()).logits.contiguous()


def write_case(folder, name, seed):
    """A checkpoint as Transformers saves it, and what it computes of some tokens in f32."""
    _, model_type, config, dtype, shard, without = CASES[name]
    torch.manual_seed(seed)
    model = build(model_type, config)
    randomize(model, dtype)
    tokens = torch.randint(0, config["vocab_size"], (BATCH, SEQ + 1), dtype=torch.int32)
    expected = logits(model, tokens)
    if without:
        other = build(model_type, config | without)
        other.load_state_dict(model.state_dict())
        assert (logits(other, tokens) - expected).abs().max() > 1e-2, f"{name}: {without} changes nothing"
    folder.mkdir(parents=True, exist_ok=True)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    (folder / "generation_config.json").unlink()
    save_file({"tokens": tokens, "logits": expected}, folder / "expected.safetensors")
    for path in folder.iterdir():
        path.chmod(0o644)
    return expected


def parameters(path):
    """Names and shapes of a published config's parameters, those of layers once with `*`, and how many elements."""
    config = json.loads(path.read_text())
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(CONFIG_MAPPING[config["model_type"]].from_dict(config))
    shapes = {name: list(parameter.shape) for name, parameter in model.named_parameters()}
    layers = 1 + max(int(number) for name in shapes for number in re.findall(r"\.(\d+)\.", name))
    patterns = {}
    for name, shape in shapes.items():
        assert patterns.setdefault(re.sub(r"\.\d+\.", ".*.", name), shape) == shape, "layers differ"
    written_out = sum(layers if "*" in pattern else 1 for pattern in patterns)
    assert written_out == len(shapes), "every layer has the same parameters"
    total = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": total, "layers": layers, "shapes": patterns}


def check_case(folder, name):
    """Fails if the files on disk differ from fresh ones by more than another order of sums."""
    fresh = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in fresh:
        stored = HERE / "fixtures" / name / path.name
        if path.suffix == ".json":
            assert json.loads(stored.read_text()) == json.loads(path.read_text()), f"{stored} differs"
        else:
            ours, theirs = load_file(path), load_file(stored)
            assert ours.keys() == theirs.keys(), f"{stored} holds other tensors"
            drift = max(float((ours[key].double() - theirs[key].double()).abs().max()) for key in ours)
            assert drift < 1e-5, f"{stored} is off by {drift:.1e}"
    print(f"{name}: {len(fresh)} files agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files on disk")
    checking = parser.parse_args().check
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": numpy.__version__,
        "safetensors": safetensors.__version__,
    }
    print(", ".join(f"{package} {version}" for package, version in versions.items()))

    models = {path.stem: parameters(path) for path in sorted((HERE / "configs").glob("*.json"))}
    path = HERE / "parameters.json"
    stored = json.loads(path.read_text()) if path.exists() else {"versions": {}, "models": {}}
    if checking:
        assert stored["models"] == models, "parameters.json differs"
    else:
        stored["models"] = models
        stored["versions"][str(MAJOR)] = versions
        path.write_text(json.dumps(stored, indent=1) + "\n")
    for seed, (name, case) in enumerate(CASES.items(), start=1):
        if case[0] != MAJOR:
            continue
        if checking:
            with tempfile.TemporaryDirectory() as folder:
                write_case(Path(folder), name, seed)
                check_case(Path(folder), name)
        else:
            folder = HERE / "fixtures" / name
            shutil.rmtree(folder, ignore_errors=True)
            expected = write_case(folder, name, seed)
            print(f"{name}: logits from {expected.min():.2f} to {expected.max():.2f}")


if __name__ == "__main__":
    main()
