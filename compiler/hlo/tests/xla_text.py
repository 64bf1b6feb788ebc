"""Prints an HloModuleProto with XLA's own printer.

    cargo run -p halite-hlo --example every_opcode -- /tmp/every_opcode.pb
    python3 xla_text.py /tmp/every_opcode.pb > every_opcode.xla.txt

Needs `pip install jax==0.10.2`.
"""

import sys

from jaxlib import _hlo

with open(sys.argv[1], "rb") as file:
    sys.stdout.write(_hlo.HloModule.from_serialized_hlo_module_proto(file.read()).to_string())
