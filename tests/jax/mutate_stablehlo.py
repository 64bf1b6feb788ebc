"""Shows that `compare_converter.py` finds mistakes: each of these changes to a text must be found, and the text as it is must be equal.

    python mutate_stablehlo.py build/every_opcode
"""

import sys
from pathlib import Path

from compare_converter import differences
from xla_modules import texts

CHANGES = [
    ("another operation", "stablehlo.tanh", "stablehlo.tan"),
    ("another operand", '"stablehlo.divide"(%x.20, %x.20)', '"stablehlo.divide"(%abs.24, %x.20)'),
    ("another alias", "tf.aliasing_output = 138", "tf.aliasing_output = 137"),
    ("no alias", "{tf.aliasing_output = 138 : i32} ", ""),
    ("a donor beside aliases", "tensor<4x8xi1> loc(#loc3)", "tensor<4x8xi1> {jax.buffer_donor = true} loc(#loc3)"),
    ("another comparison", "comparison_type SIGNED", "comparison_type UNSIGNED"),
    ("other padding", "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 2, 0>", "edge_padding_low = array<i64: 2, 0>, edge_padding_high = array<i64: 1, 0>"),
    ("other groups of ranks", "[[0, 2], [1, 3]]", "[[0, 1], [2, 3]]"),
    ("another generator", "rng_algorithm PHILOX", "rng_algorithm THREE_FRY"),
    ("another kernel", '"AwsNeuronSilu"', '"AwsNeuronGelu"'),
    ("other configuration of a kernel", 'backend_config = "1"', 'backend_config = "2"'),
    ("no effect of a kernel", "has_side_effect = true, ", ""),
    ("another frontend attribute", "input0000", "input0001"),
    ("another called function", '"stablehlo.add"(%x.0, %x.0)', '"stablehlo.multiply"(%x.0, %x.0)'),
    ("another combiner", '"stablehlo.return"(%rhs.18)', '"stablehlo.return"(%lhs.17)'),
    ("another order of results", "(%abs.24, %cbrt.25", "(%cbrt.25, %abs.24"),
    ("another bit of a NaN", "0x7FC00000", "0x7FC00001"),
    ("an operation that nothing reads", "    %abs.24 =", '    %extra = "stablehlo.exponential"(%x.20) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n    %abs.24 ='),
]


def found(text, hlo):
    return bool(differences(text, hlo)[1])


def main(path):
    [(file, hlo)] = texts(path)
    text = file.read_text()
    missed = ["the text as it is"] * found(text, hlo)
    for what, old, new in CHANGES:
        changed = text.replace(old, new, 1)
        missed += [what] * (changed == text or not found(changed, hlo))
    print(f"{len(CHANGES)} changes, not as they should be: {', '.join(missed) or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
