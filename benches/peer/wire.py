"""Bytes that a device sends in one run of a program, from the text of its HLO: collectives go around rings."""

import re
from collections import Counter
from functools import cache
from math import prod

from hlo_text import Unreadable, parsed

# What one device of n sends, in terms of the bytes of the result.
SENT = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: n - 1,
    "all-to-all": lambda n: (n - 1) / n,
    "collective-permute": lambda _: 1,
}
# Groups of devices: listed, as [groups, size] of a reshaped range, or as axes of a mesh.
LISTED = re.compile(r"replica_groups=\{\{([\d,]+)\}")
RANGE = re.compile(r"replica_groups=\[\d+,(\d+)\]<=")
AXES = re.compile(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\([^{]*\))? \{([^}]*)\}")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
# What moves a value as it is, and what runs a computation on it.
MOVED = {"bitcast", "copy", "get-tuple-element", "reshape", "transpose"}
RUNS = {"call", "fusion"}


def group_size(line):
    """How many devices act together."""
    if found := LISTED.search(line):
        return found[1].count(",") + 1
    if found := RANGE.search(line):
        return int(found[1])
    if found := AXES.search(line):
        sizes = dict(axis.split("=") for axis in found[1].replace("'", "").split(","))
        names = found[2].replace("'", "").split(",")
        if all(name in sizes for name in names):
            return prod(int(sizes[name]) for name in names)
    raise Unreadable("the groups of a collective are in an unknown form", line)


class Wire:
    """The bytes that a device sends, by opcode; loops count as often as they run, functions as often as they are called."""

    def __init__(self, text):
        self.computations, self.entry = parsed(text)

    def made(self):
        """As XLA made the program."""
        return dict(self._sent(self.entry, False))

    def scattered(self):
        """With a reduce-scatter for each all-reduce of which a device reads its own part alone.

        XLA's CPU back end leaves such sums whole; its passes for GPU and TPU make that of them.
        """
        return dict(self._sent(self.entry, True))

    @cache
    def _sent(self, name, scatter):
        total = Counter()
        for instruction in self.computations[name].instructions:
            opcode = instruction.opcode
            if opcode in SENT:
                size = group_size(instruction.line) if opcode != "collective-permute" else 1
                for at, count in enumerate(instruction.bytes()):
                    if scatter and opcode == "all-reduce" and self._is_sliced(name, instruction, at, count // size):
                        total["reduce-scatter"] += SENT["reduce-scatter"](size) * count / size
                    else:
                        total[opcode] += SENT[opcode](size) * count
            elif opcode in ("call", "while"):
                total += times(instruction, self._sent(instruction.called(), scatter))
            elif opcode == "conditional":
                raise Unreadable("which branch runs is not known", instruction.line)
            elif opcode.removesuffix("-start") in SENT:
                raise Unreadable("a collective is asynchronous", instruction.line)
        return total

    def _is_sliced(self, name, instruction, at, share):
        """Whether all that is read of part `at` of a result are slices of `share` bytes."""
        readers = self.computations[name].readers[instruction.name]
        if instruction.shape.startswith("("):
            readers = [reader for reader in readers if reader.opcode != "get-tuple-element" or reader.index() == at]
        return bool(readers) and all(self._slices(name, instruction.name, reader, share) for reader in readers)

    def _slices(self, name, value, reader, share):
        """Whether an instruction reads of a value nothing but a slice of `share` bytes."""
        if reader.opcode == "dynamic-slice":
            return reader.bytes() == [share]
        if reader.opcode in MOVED and not reader.is_root:
            readers = self.computations[name].readers[reader.name]
            return bool(readers) and all(self._slices(name, reader.name, next_, share) for next_ in readers)
        return reader.opcode in RUNS and self._callee_slices(value, reader, share)

    def _callee_slices(self, value, reader, share):
        """The same of what an instruction runs."""
        callee = self.computations[reader.called()]
        taken = [callee.parameters[at].name for at, operand in enumerate(reader.operands) if operand == value]
        readers = [(inner, name) for name in taken for inner in callee.readers[name]]
        return bool(readers) and all(self._slices(reader.called(), name, inner, share) for inner, name in readers)


def times(instruction, body):
    """What a call sends, or all runs of a loop."""
    if instruction.opcode == "call" or not body:
        return body
    if not (found := TRIPS.search(instruction.line)):
        raise Unreadable("a loop sends something and does not say how often it runs", instruction.line)
    return Counter({op: int(found[1]) * count for op, count in body.items()})
