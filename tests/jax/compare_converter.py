"""Compares StableHLO that Halite wrote with what XLA's own converter, which JAX has, makes of the same HLO.

    pip install -r requirements.txt    # or jax==0.7.0 jaxlib==0.7.0
    python compare_converter.py build/stablehlo/*

Each path is a bundle, or a folder of `NAME.mlir` beside `NAME.hlo.pb`. Each text must parse with jaxlib's dialects and pass MLIR's
verifier, and be the same as the converter's: operations, types, attributes, what reads what. `spellings.py` says what may differ.
"""

import sys
from pathlib import Path

import jaxlib
from structure import compared
from xla_modules import context, converted, texts, verified


def differences(text, hlo):
    """How many operations a text has, and in what it differs from what the converter makes of the HLO."""
    with context():
        return compared(verified(text), verified(converted(hlo)))


def main(paths):
    print(f"jaxlib {jaxlib.__version__}\n{'equal':>6} {'differing':>9} {'operations':>10}  modules of")
    total = [0, 0, 0]
    for path in paths:
        row = [0, 0, 0]
        for file, hlo in texts(path):
            count, wrong = differences(file.read_text(), hlo)
            row = [row[0] + (not wrong), row[1] + bool(wrong), row[2] + count]
            print("".join(f"{file}: {line}\n" for line in wrong), end="")
        print("{:>6} {:>9} {:>10}  {}".format(*row, path.name))
        total = [sum(pair) for pair in zip(total, row)]
    print("{:>6} {:>9} {:>10}  in all".format(*total))
    return int(total[1] > 0 or total[0] == 0)


if __name__ == "__main__":
    sys.exit(main([Path(path) for path in sys.argv[1:]]))
