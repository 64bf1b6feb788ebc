"""Serialized `HloModuleProto`s without a library of protocol buffers: what stands where, and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

COMPUTATIONS, INSTRUCTIONS, METADATA = 3, 2, 7
SOURCE_FILE, SOURCE_LINE = 3, 4


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field, in order."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        yield number, data[at : at + size]
        at += size


def instructions(module: bytes) -> Iterator[bytes]:
    for number, computation in fields(module):
        if number == COMPUTATIONS:
            yield from (value for field, value in fields(computation) if field == INSTRUCTIONS)


def without_positions(module: bytes) -> list[object]:
    """All fields of a module, those of instructions without their metadata."""

    def parts(data: bytes, nested: tuple[int, ...]) -> list[object]:
        kept: list[object] = []
        for number, value in fields(data):
            if nested and number == nested[0]:
                kept.append((number, parts(value, nested[1:])))
            elif nested or number != METADATA:
                kept.append((number, value))
        return kept

    return parts(module, (COMPUTATIONS, INSTRUCTIONS))


def positions(module: bytes) -> set[tuple[str, int]]:
    """The files and lines that instructions come from."""
    found = set()
    for instruction in instructions(module):
        for number, metadata in fields(instruction):
            if number == METADATA:
                known = dict(fields(metadata))
                if SOURCE_FILE in known:
                    found.add((known[SOURCE_FILE].decode(), known.get(SOURCE_LINE, 0)))
    return found
