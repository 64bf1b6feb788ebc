"""Compiles every preset for every target, flat and on meshes, each module that it has as HLO and StableHLO.

    cargo build -p halite-cli
    python make_stablehlo.py ../../target/debug/halite build/stablehlo

Writes one bundle for each preset, target, layout and choice of roles.
"""

import re
import subprocess
import sys
from pathlib import Path

TARGETS = ("cpu", "trn1", "trn2")
ROLES = {"whole": "train_step,forward,eval", "grads": "grads", "parts": "grad_step,update_step"}
# What a preset plans for more devices than a step is compiled for is left out: 70B is a stage of its pipeline.
MESHES = {
    "tiny": {
        "data": ["parallel.data=8"],
        "zero": ["parallel.data=2", "parallel.zero=1"],
        "tensor": ["parallel.data=1", "parallel.tensor=2", "parallel.sequence=true", "parallel.zero=1"],
    },
    "hlat-7b": {"data": ["parallel.data=4"]},
    "hlat-7b-paper": {"data": ["parallel.data=4"]},
    "hlat-70b": {"data": ["parallel.data=4", "parallel.pipeline=1", "layers=10"]},
}
NEURON_FORMS = {"channels": ["neuron.emit.channels=true"]}
# What Halite does not compile, by codes of its diagnostics: `halite explain CODE`. E0901 is a fault of ours.
REFUSED = {"hlat-7b-paper": ("E0409", "E0601", "E0901")}
PRECISIONS = {name: [f"precision={name}"] for name in ("mixed", "bf16-sr")}


def variants(preset, target):
    """The settings of each layout by name. `tiny` comes in other precisions too, and collectives of Neuron on channels."""
    yield "flat", []
    yield from MESHES[preset].items()
    if preset == "tiny":
        yield from PRECISIONS.items()
        for name, settings in NEURON_FORMS.items() if target != "cpu" else ():
            yield name, MESHES["tiny"]["tensor"] + settings


def compile(halite, bundle, preset, target, roles, settings):
    chosen = [word for setting in settings for word in ("--set", setting)]
    command = [halite, "compile", preset, "--target", target, "--role", roles, "--emit", "stablehlo", "-o", str(bundle), *chosen]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return
    code = re.search(r"(?:error|bug)\[(E\d+)\]", done.stderr)
    if not code or code[1] not in REFUSED.get(preset, ()):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    print(f"refused with {code[1]}: {bundle.name}")


def main(halite, out):
    for preset in MESHES:
        for target in TARGETS:
            for name, settings in variants(preset, target):
                for part, roles in ROLES.items():
                    compile(halite, Path(out) / f"{preset}-{target}-{name}-{part}", preset, target, roles, settings)


if __name__ == "__main__":
    main(*sys.argv[1:])
