"""The configurations measured, as JAX sees them and as `halite compile` is asked for them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """A Llama and its batch. `preset` and `sets` name the same thing on Halite's command line."""

    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    seq: int
    batch: int
    preset: str
    sets: tuple[str, ...] = ()


CONFIGS = {
    "tiny": Config(256, 64, 2, 4, 2, 176, 64, 8, "tiny"),
    "mid": Config(
        2048, 256, 4, 8, 4, 704, 256, 2, "tiny",
        ("layers=4", "hidden=256", "heads=8", "kv_heads=4", "ffn=704", "vocab=2048", "seq=256", "batch=2"),
    ),
    "slice": Config(
        32000, 1024, 4, 16, 16, 2816, 512, 2, "tiny",
        ("layers=4", "hidden=1024", "heads=16", "kv_heads=16", "ffn=2816", "vocab=32000", "seq=512", "batch=2"),
    ),
    "llama-7b": Config(32000, 4096, 32, 32, 32, 11008, 4096, 1, "llama-7b"),
    "llama-70b": Config(
        32000, 8192, 80, 64, 8, 28672, 4096, 1, "llama-7b",
        ("layers=80", "hidden=8192", "heads=64", "kv_heads=8", "ffn=28672"),
    ),
    # For a GPU.
    "billion": Config(
        32000, 2048, 16, 16, 16, 5632, 2048, 2, "tiny",
        ("layers=16", "hidden=2048", "heads=16", "kv_heads=16", "ffn=5632", "vocab=32000", "seq=2048", "batch=2"),
    ),
}
EXECUTED = ("tiny", "mid", "slice")  # small enough to run on a CPU
COMPILED = ("llama-7b",)  # compiled by XLA too, but too large to run
GPU = ("billion",)  # too large to run on a CPU: `gpu.py` runs it
