"""Reads the text of HLO as far as the bench needs it: instructions, what they read and who reads them."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import prod

WIDTH = {
    "pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2,
    "s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8,
}
COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+) .*\{$")
INSTRUCTION = re.compile(r"^ +(ROOT )?%?([\w.-]+) = (.*?) ([a-z][\w-]*)\(([^)]*)\)")
ARRAY = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")
CALLED = re.compile(r"\b(?:to_apply|calls|body)=%?([\w.-]+)")


class Unreadable(SystemExit):
    """A line that cannot be counted: the figure would be wrong."""

    def __init__(self, why, line):
        super().__init__(f"{why}: teach hlo_text.py or wire.py to read it: {line.strip()[:300]}")


@dataclass(frozen=True)
class Instruction:
    name: str
    shape: str
    opcode: str
    operands: tuple[str, ...]
    is_root: bool
    line: str

    def bytes(self):
        """Of each array of the result."""
        arrays = ARRAY.findall(self.shape)
        if any(dtype not in WIDTH for dtype, _ in arrays):
            raise Unreadable("an element type is unknown", self.line)
        return [WIDTH[dtype] * prod(int(size) for size in sizes.split(",") if size) for dtype, sizes in arrays]

    def called(self):
        """The computation that it runs, if any."""
        found = CALLED.search(self.line)
        return found[1] if found else None

    def index(self):
        """Which parameter, or which part of a tuple, it is."""
        return int(re.search(r"\bindex=(\d+)" if self.opcode == "get-tuple-element" else r"parameter\((\d+)\)", self.line)[1])


class Computation:
    def __init__(self):
        self.instructions = []

    @cached_property
    def readers(self):
        """The instructions that read each one, by its name."""
        found = defaultdict(list)
        for instruction in self.instructions:
            for operand in dict.fromkeys(instruction.operands):
                found[operand].append(instruction)
        return found

    @cached_property
    def parameters(self):
        return {i.index(): i for i in self.instructions if i.opcode == "parameter"}


def parsed(text):
    """The computations by their names, and the name of the entry."""
    found, entry = {}, None
    for line in text.splitlines():
        if head := COMPUTATION.match(line):
            found[head[2]] = computation = Computation()
            entry = head[2] if head[1] else entry
        elif made := INSTRUCTION.match(line):
            root, name, shape, opcode, operands = made.groups()
            operands = tuple(re.findall(r"%([\w.-]+)", operands))
            computation.instructions.append(Instruction(name, shape, opcode, operands, bool(root), line))
    return found, entry
