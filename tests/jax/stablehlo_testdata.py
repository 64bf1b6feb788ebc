"""The test data of the StableHLO project, read by Halite, run by JAX's XLA and held to the results that the files expect.

    git clone https://github.com/openxla/stablehlo
    cargo build --release -p halite-stablehlo --example read
    python stablehlo_testdata.py ../../target/release/examples/read stablehlo/stablehlo/testdata

Each file computes results and checks them by `custom_call @check.expect_*`; here it is rewritten to return both, what is computed and what is expected.
Counted is how many are right element by element, close beside their largest element (sums in another order), refused by reason (the first fault), not run
by XLA, and wrong; wrong ones are printed, and the exit code is 1.
"""

import argparse
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from read_stablehlo import distance, reported, run

CHECK = re.compile(r"^\s*stablehlo\.custom_call @check\.expect_\w+\((%[\w#]+), (%[\w#]+)\).*: \((.*)\) -> .*\n", re.M)
MAIN = re.compile(r"(func\.func public @main\(\) -> )(.*)( \{\n)")
RETURN = re.compile(r"^( *)return .*\n", re.M)
CLOSE = {"bfloat16": 2e-2, "float16": 2e-3, "float32": 1e-5, "float64": 1e-12}


def rewritten(text):
    """The text that returns what it computes and what it expects, in pairs; `None` where it is of another form."""
    checks = CHECK.findall(text)
    if not checks or not MAIN.search(text):
        return None
    values = ", ".join(f"{found}, {expected}" for found, expected, _ in checks)
    types = ", ".join(types for *_, types in checks)
    text = MAIN.sub(lambda match: f"{match[1]}({types}){match[3]}", CHECK.sub("", text), count=1)
    return RETURN.sub(lambda match: f"{match[1]}return {values} : {types}\n", text, count=1)


def outcome(file):
    """How the results of a file that is read are: `right`, `close`, `wrong` or the reason why XLA does not run it, and how far they are from what is expected."""
    try:
        results = run(Path(f"{file}.hlo.pb").read_bytes(), [])
    except Exception as error:  # XLA lacks some types on the CPU.
        return f"not run: {str(error).splitlines()[0][:100]}", 0.0
    pairs = list(zip(results[::2], results[1::2], strict=True))
    far = max((distance(*pair) for pair in pairs), default=0.0)
    close = max((CLOSE.get(result.dtype.name, 0.0) for result, _ in pairs), default=0.0)
    if far <= close:
        return "right", far
    return "close" if max(beside_largest(*pair) for pair in pairs) <= close else "wrong", far


def beside_largest(found, expected):
    """The largest difference of two results beside the largest element: sums of terms that cancel are no closer in any order."""
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", help="the example `read` of halite-stablehlo")
    parser.add_argument("testdata", type=Path, help="the folder of the StableHLO project")
    options = parser.parse_args()
    counts, reasons, wrong = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for source in sorted(options.testdata.glob("*.mlir")):
            text = rewritten(source.read_text())
            if text is None:
                counts["of another form"] += 1
                continue
            files.append(Path(folder) / source.name)
            files[-1].write_text(text)
        faults = {}
        for start in range(0, len(files), 500):
            said = subprocess.run([options.reader, *map(str, files[start : start + 500])], check=True, capture_output=True, text=True)
            for line in said.stderr.splitlines():
                faults.setdefault(*line.split("\t", 1))
        for file in files:
            kind, far = (f"refused: {faults[str(file)]}", 0.0) if str(file) in faults else outcome(file)
            counts[kind.split(":", 1)[0]] += 1
            if ":" in kind:
                reasons[re.sub(r"tensor<[^`]*x(?=\D)", "tensor<..x", kind)] += 1
            if kind == "wrong":
                wrong.append(f"{file.name}: {far}")
    return reported(counts, reasons, wrong)


if __name__ == "__main__":
    sys.exit(main())
