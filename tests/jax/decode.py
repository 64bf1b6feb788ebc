"""Decodes the HLO of a bundle with XLA's own reader, and compares its interface with the manifest.

    pip install -r requirements.txt
    halite compile hlat-7b --target trn1 -o build/hlat-7b
    python decode.py build/hlat-7b

Checks each module: the entry is `main`; its parameters and results have the element types, sizes and row-major layouts
that the manifest states; each result that replaces a parameter aliases it, and no other does.
"""

import json
import re
import sys
from pathlib import Path

from jaxlib import _hlo

ALIAS = re.compile(r"\{(\d*)\}: \((\d+), \{\}, [a-z-]+\)")


def described(shape):
    """An array shape as `dtype[sizes]`, with its layout unless that is row-major."""
    layout = tuple(shape.layout().minor_to_major())
    rank = len(shape.dimensions())
    unusual = "" if layout == tuple(reversed(range(rank))) else f" in layout {layout}"
    name = str(shape.xla_element_type()).rsplit(".")[-1].lower()
    return f"{name}[{','.join(map(str, shape.dimensions()))}]{unusual}"


def stated(port):
    return f"{port['dtype']}[{','.join(map(str, port['shape']))}]"


def interface(data):
    """The name of the entry, its parameters, its results, and {result: parameter} for what is aliased."""
    module = _hlo.HloModule.from_serialized_hlo_module_proto(data)
    text = module.to_string()
    entry = re.search(r"^ENTRY %?([\w.-]+)", text, re.MULTILINE).group(1)
    header = text[: text.index("\n")]
    aliases = {int(result or 0): int(parameter) for result, parameter in ALIAS.findall(header)}
    program = _hlo.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape()
    result = program.result_shape()
    results = result.tuple_shapes() if result.is_tuple() else [result]
    parameters = [described(shape) for shape in program.parameter_shapes()]
    return entry, parameters, [described(shape) for shape in results], aliases


def written_out(entry, buffers):
    """A module with all that is said of its ports: one that is its buffer, or replaces it, is written as its name."""
    inputs = [buffers[port] if isinstance(port, str) else port for port in entry["inputs"]]
    names = [port["name"] for port in inputs]
    replaced = lambda port: {**buffers[port], "alias": names.index(port)} if isinstance(port, str) else port
    return {**entry, "inputs": inputs, "outputs": [replaced(port) for port in entry["outputs"]]}


def differences(entry, data):
    """What XLA reads otherwise than the manifest states."""
    name, parameters, results, aliases = interface(data)
    expected = {
        "entry": "main",
        "parameters": [stated(port) for port in entry["inputs"]],
        "results": [stated(port) for port in entry["outputs"]],
        "aliases": {at: port["alias"] for at, port in enumerate(entry["outputs"]) if port.get("alias") is not None},
    }
    # XLA numbers names again when it reads a module.
    found = {"entry": name.split(".")[0], "parameters": parameters, "results": results, "aliases": aliases}
    return [f"{what}: {found[what]}, stated {expected[what]}" for what in expected if found[what] != expected[what]]


def main(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    failed = False
    buffers = {buffer["name"]: buffer for buffer in manifest["buffers"]}
    for entry in (written_out(entry, buffers) for entry in manifest["modules"]):
        wrong = differences(entry, (folder / entry["file"]).read_bytes())
        failed |= bool(wrong)
        ports = f"{len(entry['inputs'])} parameters, {len(entry['outputs'])} results"
        print(f"{entry['file']}: {ports}, {'; '.join(wrong) or 'as stated'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
