"""What was found of a model or a bundle, as data that shows itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import _html, _table
from .errors import Diagnostic
from .manifest import Mesh

__all__ = [
    "CheckReport",
    "Figures",
    "Group",
    "Inspection",
    "ModuleFigures",
    "PlacedBuffers",
    "Placement",
    "Remark",
    "ResidualBranch",
    "ResidualStream",
    "Traffic",
    "VerifyReport",
    "VerifyRow",
]


@dataclass(frozen=True)
class Remark:
    """A decision of a pass: whether it applied a rule at some places, and why."""

    module: str
    pass_: str
    rule: str
    taken: bool
    message: str
    scopes: tuple[str, ...]

    def __str__(self) -> str:
        verdict = "taken" if self.taken else "not taken"
        return f"{self.module}: {self.pass_}, {self.rule}: {verdict}: {self.message}"


@dataclass(frozen=True)
class ResidualBranch:
    """What is added to a residual stream: standard deviations of it and of the sum, where they are known."""

    scope: str
    weights: tuple[str, ...]
    added_std: float | None
    std: float | None


@dataclass(frozen=True)
class ResidualStream:
    """The scale of a residual stream at the first step."""

    start_std: float | None
    branches: tuple[ResidualBranch, ...]


@dataclass(frozen=True)
class CheckReport:
    """What deserves a look in a model, and how much was looked at.

    `checked` counts sensitive ops, sums, sums of gradients, weights and moments. `causality` says what is proven of the outputs and the
    loss; it is `None` where nothing was to be proven.
    """

    findings: tuple[Diagnostic, ...]
    causality: str | None
    checked: Mapping[str, int]
    streams: tuple[ResidualStream, ...]

    def __bool__(self) -> bool:
        """Whether there is no finding. What is only worth knowing, a note, is none."""
        return self._number() == 0

    def _number(self) -> int:
        return sum(finding.severity != "note" for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join([self._summary(), *(finding.report for finding in self.findings)])

    def _summary(self) -> str:
        number = self._number()
        found = f"{number} finding{'' if number == 1 else 's'}" if number else "no findings"
        looked = ", ".join(f"{count:,} {what}" for what, count in self.checked.items())
        return f"{found}: looked at {looked}\ncausality: {self.causality or 'not checked'}"

    def _repr_html_(self) -> str:
        return _html.colored_text(self._summary()) + "".join(finding._repr_html_() for finding in self.findings)


@dataclass(frozen=True)
class VerifyRow:
    """What was found of one result. Errors are against the program in `f64`, largest difference over largest magnitude.

    `ratio` is the mean error over the mean of what is allowed, in `draws` draws of inputs, of which `above` were above it.
    """

    name: str
    error: float
    unoptimized: float
    allowed: float
    draws: int
    above: int
    ratio: float
    outcome: str


@dataclass(frozen=True)
class VerifyReport:
    """Whether the optimized program computes what the unoptimized one does, result by result.

    `scaled` has the sizes that the model was scaled down in: from, to. `stages` says which stages of a pipeline ran, where the recipe has
    several: how many, with how many parts each, by which schedule and on how many micro-batches. `causality` says at how many positions earlier results were
    unchanged by later tokens, or where they were not.
    """

    passed: bool
    rows: tuple[VerifyRow, ...]
    scaled: Mapping[str, tuple[int, int]]
    stages: Mapping[str, object] | None
    causality: Mapping[str, object] | None
    choices: Mapping[str, int] | None
    warnings: tuple[Diagnostic, ...]

    def __bool__(self) -> bool:
        return self.passed

    _HEAD = ("result", "error", "unoptimized", "allowed", "error/allowed", "outcome")

    _SHOWN = 12

    def _cells(self) -> Iterator[tuple[str, ...]]:
        """The results nearest to what is allowed, or beyond it."""
        for row in sorted(self.rows, key=lambda row: -row.ratio)[: self._SHOWN]:
            errors = (f"{value:.2e}" for value in (row.error, row.unoptimized, row.allowed))
            yield (row.name, *errors, f"{row.ratio:.2f}", row.outcome)

    def _verdict(self) -> str:
        shown = f", of which {self._SHOWN} are shown" if len(self.rows) > self._SHOWN else ""
        return f"{'passed' if self.passed else 'FAILED'}: {len(self.rows)} results{shown}"

    def __str__(self) -> str:
        return f"{_table.table(self._HEAD, self._cells())}\n{self._verdict()}"

    def _repr_html_(self) -> str:
        return _html.table(self._HEAD, self._cells(), caption=self._verdict())


@dataclass(frozen=True)
class Figures:
    """Instructions, floating-point operations (a multiply-add counts as two) and bytes of results."""

    instructions: int
    flops: int
    bytes: int


@dataclass(frozen=True)
class ModuleFigures:
    """Figures of a module, calls written out; scopes have `*` for the number of a layer."""

    name: str
    total: Figures
    by_op: Mapping[str, Figures]
    by_scope: Mapping[str, Figures]


@dataclass(frozen=True)
class Group:
    """How the parameters of a group of the optimizer are updated; `group` is `None` for those in none, `rule` where it is frozen."""

    group: str | None
    rule: str | None
    lr_scale: float | None
    weight_decay: tuple[tuple[float, int], ...]
    clip: tuple[str, float] | None
    params: tuple[str, ...]
    except_: tuple[str, ...]
    count: int
    elements: int


@dataclass(frozen=True)
class PlacedBuffers:
    """Where buffers lie that differ in their layer alone: for each dimension of `shape` the names of the axes that shard it, `tensor/4` where
    4 ranks of more do.
    """

    name: str
    count: int
    shape: tuple[int, ...]
    axes: tuple[tuple[str, ...], ...]
    bytes: int


@dataclass(frozen=True)
class Traffic:
    """Collectives of one kind in an update: the names of the axes along which ranks act together, how often they run, and the bytes that a
    rank sends.
    """

    module: str
    function: str
    op: str
    axes: tuple[str, ...]
    count: int
    bytes: int


@dataclass(frozen=True)
class Placement:
    """Where the state lies on a mesh, and what ranks send to one another in an update."""

    axes: Mesh
    buffers: tuple[PlacedBuffers, ...]
    traffic: tuple[Traffic, ...]


@dataclass(frozen=True)
class Inspection:
    """What is in a bundle: figures of its modules by op and by scope, groups of parameters, and their placement on a mesh.

    `placement` is `None` on one rank, and for a bundle, which does not tell it.
    """

    name: str
    modules: tuple[ModuleFigures, ...]
    groups: tuple[Group, ...]
    placement: Placement | None

    _SHOWN = 8

    def _tables(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        yield "module", [_row(module.name, module.total) for module in self.modules]
        for module in self.modules[:1]:
            yield f"{module.name} by op", self._most(module.by_op)
            yield f"{module.name} by scope", self._most(module.by_scope)

    def _most(self, figures: Mapping[str, Figures]) -> list[tuple[str, ...]]:
        """The first rows, and all others as one."""
        rows = list(figures.items())
        shown = len(rows) if len(rows) <= self._SHOWN + 1 else self._SHOWN
        made = [_row(name, own) for name, own in rows[:shown]]
        if others := [own for _, own in rows[shown:]]:
            total = Figures(*(sum(getattr(own, of) for own in others) for of in ("instructions", "flops", "bytes")))
            made.append(_row(f"{len(others)} others", total))
        return made

    _HEAD = ("instructions", "FLOPs", "bytes")

    def __str__(self) -> str:
        return "\n\n".join(_table.table((what, *self._HEAD), rows) for what, rows in self._tables())

    def _repr_html_(self) -> str:
        return "".join(_html.table((what, *self._HEAD), rows) for what, rows in self._tables())


def _row(name: str, own: Figures) -> tuple[str, ...]:
    return name, f"{own.instructions:,}", _table.short(own.flops), _table.size(own.bytes)
