"""Reads what the bench needs from HloModuleProto bytes, without any library: one reader and one counter for both compilers.

Field numbers are those of XLA's public `hlo.proto` and `xla_data.proto`.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from math import prod

MODULE_COMPUTATION, MODULE_PROGRAM_SHAPE, MODULE_ENTRY, MODULE_ALIAS = 3, 4, 6, 8
COMPUTATION_INSTRUCTION, COMPUTATION_ID, COMPUTATION_ROOT = 2, 5, 6
INSTRUCTION_OPCODE, INSTRUCTION_ID, INSTRUCTION_OPERANDS, INSTRUCTION_CALLED = 2, 35, 36, 38
PROGRAM_PARAMETER = 1
SHAPE_TYPE, SHAPE_DIMENSIONS = 2, 3
ALIAS_ENTRY, ENTRY_OUTPUT, ENTRY_PARAMETER = 1, 1, 2

# PrimitiveType of xla_data.proto, as numpy names.
DTYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 16: "bfloat16",
}
DTYPE_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}
# Instructions whose computation is executed as a whole. Every other computation that an instruction names is a reducer,
# a comparator or the like.
BODIES = {"call", "while", "conditional", "fusion", "async-start"}


def varint(data, at):
    """The varint at `at` and the position after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """The fields of one message: number -> list of ints (varints) and memoryviews (everything else)."""
    found = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 2, 5):
            if wire == 2:
                size, at = varint(data, at)
            else:
                size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {wire} at byte {at}: these are not HloModuleProto bytes")
        found[number].append(value)
    return found


def ints(values):
    """A repeated int64 field, packed or not."""
    result = []
    for value in values:
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = varint(value, at)
            result.append(item)
    return result


def scalar(message, number):
    """An integer field, 0 if absent."""
    return message[number][-1] if message[number] else 0


@dataclass(frozen=True)
class Instruction:
    id: int
    opcode: str
    operands: tuple[int, ...]
    called: tuple[int, ...]


@dataclass(frozen=True)
class Computation:
    root: int
    instructions: tuple[Instruction, ...]


class Module:
    """A decoded module: its computations, its entry parameters as (dtype, shape), its alias pairs {output: parameter}."""

    def __init__(self, data):
        message = fields(memoryview(data))
        self.entry = scalar(message, MODULE_ENTRY)
        self.computations = {}
        for raw in message[MODULE_COMPUTATION]:
            computation = fields(raw)
            self.computations[scalar(computation, COMPUTATION_ID)] = Computation(
                scalar(computation, COMPUTATION_ROOT),
                tuple(self._instruction(fields(i)) for i in computation[COMPUTATION_INSTRUCTION]),
            )
        program = fields(message[MODULE_PROGRAM_SHAPE][-1])
        self.parameters = [self._shape(fields(shape)) for shape in program[PROGRAM_PARAMETER]]
        alias = fields(message[MODULE_ALIAS][-1])[ALIAS_ENTRY] if message[MODULE_ALIAS] else []
        self.aliases = dict(self._alias(fields(entry)) for entry in alias)

    def argument_bytes(self):
        """The bytes of all entry parameters: the training state and the batch."""
        return sum(DTYPE_BYTES[dtype] * prod(shape) for dtype, shape in self.parameters)

    @staticmethod
    def _instruction(message):
        return Instruction(
            scalar(message, INSTRUCTION_ID),
            bytes(message[INSTRUCTION_OPCODE][-1]).decode(),
            tuple(ints(message[INSTRUCTION_OPERANDS])),
            tuple(ints(message[INSTRUCTION_CALLED])),
        )

    @staticmethod
    def _shape(message):
        return DTYPES[scalar(message, SHAPE_TYPE)], tuple(ints(message[SHAPE_DIMENSIONS]))

    @staticmethod
    def _alias(message):
        output = ints(message[ENTRY_OUTPUT])
        return output[0] if output else 0, scalar(message, ENTRY_PARAMETER)

    def opcodes(self):
        """How often each opcode occurs once every `call` is replaced by the instructions of its callee.

        A call disappears with the parameters of its callee, the callee's root tuple and the get-tuple-elements that
        take it apart. Loop bodies and conditions, branches and fused computations count once each time they are named;
        reducers, comparators and scatter combiners do not count.
        """
        return self._opcodes(self.entry)

    @cache
    def _opcodes(self, id):
        computation = self.computations[id]
        calls = {i.id for i in computation.instructions if i.opcode == "call"}
        total = Counter()
        for instruction in computation.instructions:
            if instruction.opcode in BODIES:
                for called in instruction.called:
                    total += self._opcodes(called)
                    if instruction.opcode == "call":
                        total -= self._interface(called)
            if instruction.opcode == "call":
                continue
            if instruction.opcode == "get-tuple-element" and instruction.operands[0] in calls:
                continue
            total[instruction.opcode] += 1
        return total

    def _interface(self, id):
        """The parameters and the root tuple of a computation."""
        computation = self.computations[id]
        return Counter(
            i.opcode
            for i in computation.instructions
            if i.opcode == "parameter" or (i.opcode == "tuple" and i.id == computation.root)
        )
