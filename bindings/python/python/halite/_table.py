"""Numbers and tables as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def short(number: float) -> str:
    """A number with three digits and a decimal unit: `6.74 G`.

    >>> short(999), short(6_738_415_616)
    ('999', '6.74 G')
    """
    if number < 1000:
        return str(round(number))
    for unit in "kMGTPE":
        number /= 1000
        if number < 999.5 or unit == "E":
            break
    return f"{number:.3g} {unit}"


def size(count: float) -> str:
    """Bytes with a binary unit.

    >>> size(512), size(3 << 30)
    ('512 B', '3.0 GiB')
    """
    if count < 1024:
        return f"{round(count)} B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        count /= 1024
        if count < 1024:
            break
    return f"{count:.1f} {unit}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns that line up, the first to the left and the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]

    def text(cells: Sequence[str]) -> str:
        first, *others = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return "  ".join([cells[0].ljust(len(first)), *others]).rstrip()

    return "\n".join([text(head), text(["─" * width for width in widths]), *map(text, lines[1:])])
