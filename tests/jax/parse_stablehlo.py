"""Reads StableHLO that Halite wrote with jaxlib, and compares what XLA makes of it with the HLO that it was written from.

    pip install -r requirements.txt    # or jax==0.7.0 jaxlib==0.7.0
    halite compile hlat-7b --target trn1 --emit stablehlo -o build/hlat-7b
    python parse_stablehlo.py build/hlat-7b ../../compiler/stablehlo/tests/every_opcode.mlir

Each text must parse with jaxlib's dialects and pass MLIR's verifier. Of a bundle, what XLA makes of the text must have the parameters,
results and donations that the manifest states, and the collectives and kernels of the module's HLO.
"""

import collections
import re
import sys
from pathlib import Path

import jaxlib
from jaxlib.mlir import ir
from xla_modules import computation, context, texts, translated, verified

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "replica-id")
RESULT = re.compile(rf" = (.*?) ({'|'.join(COLLECTIVES)}|custom-call)\(")
ARRAY = re.compile(r"\w+\[[\d,]*\]")
SAID = re.compile(
    r"(?:replica_groups|source_target_pairs)=\{\{.*?\}\}|(?:dimensions|frontend_attributes)=\{.*?\}|custom_call_target=\".*?\""
)


def parsed(text):
    """The number of operations of a text, which the verifier has passed."""
    with context():
        module = verified(text)
        count = 0

        def enter(_):
            nonlocal count
            count += 1
            return ir.WalkResult.ADVANCE

        module.operation.walk(enter)
        return count


def exchanges(hlo):
    """How often each collective and kernel stands in a module, with all that is said of it; of several operands, each counts."""
    found = collections.Counter()
    for line in hlo.as_hlo_text().splitlines():
        match = RESULT.search(line)
        if match:
            said = " ".join(sorted(SAID.findall(line)))
            found.update(f"{match[2]} {array} {said}" for array in ARRAY.findall(match[1]))
    return found


def interface(hlo):
    shape = hlo.program_shape()
    result = shape.result_shape()
    results = result.tuple_shapes() if result.is_tuple() else [result]
    described = lambda array: f"{array.element_type()}{tuple(array.dimensions())}"
    aliases = re.findall(r"\{(\d*)\}: \((\d+), \{\}", hlo.as_hlo_text().split("\n")[0])
    parameters = [described(array) for array in shape.parameter_shapes()]
    return parameters, [described(array) for array in results], {int(result or 0): int(number) for result, number in aliases}


def differences(text, hlo):
    """In what XLA's HLO of a text differs from the HLO that it was written from."""
    made, given = translated(text), computation(hlo)
    wrong = [f"{found}, expected {expected}" for found, expected in zip(interface(made), interface(given)) if found != expected]
    found, expected = exchanges(made), exchanges(given)
    return wrong + [f"lacks {dict(expected - found)}, has {dict(found - expected)}"] * (found != expected)


def main(paths):
    print(f"jaxlib {jaxlib.__version__}")
    failed = False
    for path, hlo in [pair for path in paths for pair in texts(path)]:
        text = path.read_text()
        try:
            count, wrong = parsed(text), differences(text, hlo) if hlo else translated(text) and []
        except Exception as error:
            count, wrong = 0, [str(error)]
        failed |= bool(wrong)
        print(f"{path}: {count} operations, {'; '.join(wrong) or 'as stated'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main([Path(path) for path in sys.argv[1:]]))
