"""The model of the comparison on a mesh, and its layouts over 8 devices."""

from dataclasses import dataclass

from configs import Config

DEVICES = 8
MODEL = Config(
    2048, 256, 4, 8, 8, 704, 256, 8, "tiny",
    ("layers=4", "hidden=256", "heads=8", "kv_heads=8", "ffn=704", "vocab=2048", "seq=256"),
)


@dataclass(frozen=True)
class Layout:
    """Degrees of parallelism; `sequence` shares the sequence along `tensor`, `zero` the state of the optimizer along `data`, and along `fsdp`
    ranks store parts of the weights too."""

    data: int
    tensor: int
    sequence: bool = False
    zero: bool = False
    fsdp: int = 1

    def sets(self):
        """What Halite's command line calls it; the batch of `MODEL` is that of all devices."""
        return (
            f"batch={MODEL.batch // (self.data * self.fsdp)}",
            f"parallel.data={self.data}", f"parallel.fsdp={self.fsdp}", f"parallel.tensor={self.tensor}",
            f"parallel.sequence={str(self.sequence).lower()}", f"parallel.zero={int(self.zero)}",
        )


LAYOUTS = {
    "data": Layout(8, 1),
    "data+zero": Layout(8, 1, zero=True),
    "tensor": Layout(1, 8),
    "tensor+seq": Layout(1, 8, sequence=True),
    "both": Layout(2, 4),
    "both+seq": Layout(2, 4, sequence=True),
    "both+seq+zero": Layout(2, 4, sequence=True, zero=True),
    "fsdp": Layout(1, 1, fsdp=8),
    "fsdp+tensor": Layout(1, 2, fsdp=4),
}
