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
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
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
BERT = {
    "vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40,
    "max_position_embeddings": 24, "type_vocab_size": 3, "initializer_range": 0.2, "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
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
    "bert": (4, "bert", BERT, torch.float32, "1MB", {"hidden_act": "relu"}),
    "bert_silu": (5, "bert", BERT | {"hidden_act": "silu"}, torch.bfloat16, "1MB", {"hidden_act": "gelu"}),
}


def build(model_type, config):
    """A model in evaluation mode whose attention is written out."""
    config = CONFIG_MAPPING[model_type](**config)
    return head(config).from_config(config, attn_implementation="eager").eval()


def head(config):
    """What predicts tokens: those that are masked, in an encoder, or the next ones."""
    return AutoModelForMaskedLM if config.model_type == "bert" else AutoModelForCausalLM


def randomize(model, dtype):
    """Moves scales and biases away from 1 and 0, so that each matters, and rounds all parameters to `dtype`."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.2 * torch.randn(parameter.shape)
            parameter.copy_(parameter.to(dtype).float())


def expect(model, vocab):
    """What a model is fed, and what it computes of it."""
    if model.config.model_type == "bert":
        return expect_masked(model, vocab)
    tokens = torch.randint(0, vocab, (BATCH, SEQ + 1), dtype=torch.int32)
    with torch.no_grad():
        return {"tokens": tokens, "logits": model(tokens[:, :-1].long()).logits.contiguous()}


def expect_masked(model, vocab):
    """What an encoder computes of tokens alone, of tokens of several types with padding and labels, and of packed documents."""
    tokens = torch.randint(0, vocab, (BATCH, SEQ), dtype=torch.int32)
    token_types = torch.randint(0, model.config.type_vocab_size, (BATCH, SEQ), dtype=torch.int32)
    mask = torch.ones(BATCH, SEQ, dtype=torch.int32)
    mask[1, SEQ - 5 :] = 0
    labels = torch.randint(0, vocab, (BATCH, SEQ), dtype=torch.int32)
    labels[(torch.arange(SEQ) % 3 != 1).expand(BATCH, SEQ) | (mask == 0)] = -100
    segments, positions = documents([[7, 9], [3, 4, 6]])
    fed = {"attention_mask": mask, "token_type_ids": token_types, "labels": labels}
    with torch.no_grad():
        plain = model(tokens.long()).logits
        padded = model(tokens.long(), **{name: tensor.long() for name, tensor in fed.items()})
        packed = model(tokens.long(), attention_mask=within(segments), position_ids=positions.long()).logits
    for other in (padded.logits, packed):
        assert (other - plain).abs().amax((1, 2)).min() > 1e-2, "what else is fed changes nothing"
    fed |= {"tokens": tokens, "segments": segments, "position_ids": positions}
    logits = {"logits": plain, "padded_logits": padded.logits, "packed_logits": packed}
    return fed | {name: tensor.contiguous() for name, tensor in logits.items()} | {"padded_loss": padded.loss}


def within(segments):
    """A mask of attention within documents, as this version of Transformers takes it."""
    together = segments[:, :, None] == segments[:, None, :]
    if MAJOR == 4:
        return together.long()
    return torch.where(together, 0.0, torch.finfo(torch.float32).min)[:, None]


def documents(lengths):
    """For documents of these lengths in each row the number of each token's, 0 in padding, and its position in it."""
    segments = torch.zeros(BATCH, SEQ, dtype=torch.int32)
    positions = torch.zeros(BATCH, SEQ, dtype=torch.int32)
    for row, of_row in enumerate(lengths):
        start = 0
        for number, length in enumerate(of_row, start=1):
            segments[row, start : start + length] = number
            positions[row, start : start + length] = torch.arange(length, dtype=torch.int32)
            start += length
    return segments, positions


def write_case(folder, name, seed):
    """A checkpoint as Transformers saves it, and what it computes of some tokens in f32."""
    _, model_type, config, dtype, shard, without = CASES[name]
    torch.manual_seed(seed)
    model = build(model_type, config)
    randomize(model, dtype)
    state = torch.get_rng_state()
    expected = expect(model, config["vocab_size"])
    if without:
        other = build(model_type, config | without)
        other.load_state_dict(model.state_dict())
        torch.set_rng_state(state)
        changed = expect(other, config["vocab_size"])["logits"]
        assert (changed - expected["logits"]).abs().max() > 1e-2, f"{name}: {without} changes nothing"
    folder.mkdir(parents=True, exist_ok=True)
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    (folder / "generation_config.json").unlink(missing_ok=True)
    save_file(expected, folder / "expected.safetensors")
    for path in folder.iterdir():
        path.chmod(0o644)
    return expected["logits"]


def parameters(path):
    """Names and shapes of a published config's parameters, those of layers once with `*`, and how many elements."""
    config = json.loads(path.read_text())
    with torch.device("meta"):
        config = CONFIG_MAPPING[config["model_type"]].from_dict(config)
        model = head(config).from_config(config)
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
