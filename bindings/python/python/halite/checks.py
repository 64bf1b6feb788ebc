"""Looking at models before they are trained: check, verify, inspect."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._meant import meant
from ._quiet import quiet_xla
from ._values import whole
from .bundle import Bundle
from .errors import diagnostics_of, wrong
from .manifest import Mesh
from .model import BuiltModel
from .progress import ProgressLike, watched
from .reports import (
    CheckReport,
    Figures,
    Group,
    Inspection,
    ModuleFigures,
    PlacedBuffers,
    Placement,
    ResidualBranch,
    ResidualStream,
    Traffic,
    VerifyReport,
    VerifyRow,
)
from .source import Input, load

__all__ = ["check", "inspect", "install_plugin", "verify"]


def check(input: Input, /, *, progress: ProgressLike = None, **overrides: Any) -> CheckReport:
    """Compiles without keeping anything, and says what deserves a look, with the lines of the model.

    The precision audit, the scale of residual streams at the first step, weights that never learn, inputs that reach nothing; and whether
    it is proven that no position sees a later token. A leak is an error, as `compile` raises it.

    >>> import halite
    >>> report = halite.check("tiny")
    >>> bool(report), report.causality
    (True, 'output `logits`: proven; loss: proven')
    """
    with meant(check, overrides):
        source = load(input, **overrides)
        with watched(progress, f"checking {source.name}", unit=" passes") as tell:
            findings, found = source._native.check(tell)
    checked, causality, streams = json.loads(found)
    return CheckReport(
        findings=tuple(diagnostics_of(findings)),
        causality=causality,
        checked=dict(checked),
        streams=tuple(_stream(stream) for stream in streams),
    )


def _stream(raw: Mapping[str, Any]) -> ResidualStream:
    branches = (ResidualBranch(**{**branch, "weights": tuple(branch["weights"])}) for branch in raw["branches"])
    return ResidualStream(raw["start_std"], tuple(branches))


def verify(
    input: Input,
    /,
    *,
    role: str = "train_step",
    full: bool = False,
    seed: int = 0,
    plugin: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
    **overrides: Any,
) -> VerifyReport:
    """Compares the optimized program of a role with the unoptimized one, both on CPU XLA, and both with that in `f64`.

    A result is wrong when it errs more than 1.5 times what the unoptimized one errs plus two units of roundoff, in more draws of inputs
    than chance explains. The model is scaled down unless `full`; `seed` is that of the inputs. What is for another target runs with
    decompositions in the place of its kernels. A model that is built in Python is given as a text for this. `plugin` is the PJRT plugin of the CPU: by default that of `HALITE_PJRT_PLUGIN`, else
    what `install_plugin` put in place.
    """
    if isinstance(input, BuiltModel):
        raise wrong(
            "a model that is built has one element type, and `verify` compares it with itself in `f64`",
            help="give the model as a text: `halite.Text(..)`, or a file in the model language",
            code="E0202",
        )
    path, seed = None if plugin is None else os.fspath(plugin), whole("seed", seed)
    with meant(verify, overrides):
        source = load(input, **overrides)
        with watched(progress, f"verifying {role} of {source.name}", unit=" programs") as tell, quiet_xla():
            found, warnings = source._native.verify(role, full, seed, path, tell)
    passed, report = json.loads(found)
    return VerifyReport(
        passed=passed,
        rows=tuple(VerifyRow(**{**row, **_numbers(row)}) for row in report["rows"]),
        scaled={key: (before, after) for key, before, after in report["scaled"]},
        stages=report["stages"],
        causality=report["causality"],
        choices=report["choices"],
        warnings=tuple(diagnostics_of(warnings)),
    )


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """Those that JSON has as `null`, which it has no word for."""
    return {key: float("nan") for key in ("error", "unoptimized", "allowed", "ratio") if row[key] is None}


def inspect(input: Input | Bundle, /, *, depth: int = 4, progress: ProgressLike = None, **overrides: Any) -> Inspection:
    """Figures of each module by op and by scope of at most `depth` levels, groups of parameters, and their placement on the mesh.

    >>> import halite
    >>> halite.inspect("tiny").modules[0].by_op["dot"].flops
    383778816
    """
    depth = whole("depth", depth, least=1, most=99)
    if isinstance(input, Bundle):
        if overrides:
            raise TypeError(f"a `Bundle` is compiled already: leave `{next(iter(overrides))}` out, or give the recipe")
        return _inspection(input.manifest.model.name, input._native.inspect(depth), None)
    with meant(inspect, overrides):
        source = load(input, **overrides)
        with watched(progress, f"inspecting {source.name}", unit=" passes") as tell:
            bundle = Bundle(source._native.compile(None, False, False, tell)[0])
            placement = source._native.placement() if bundle.manifest.ranks > 1 else None
    return _inspection(source.name, bundle._native.inspect(depth), placement)


def _inspection(name: str, found: str, placement: str | None) -> Inspection:
    modules, groups = json.loads(found)
    return Inspection(
        name=name,
        modules=tuple(_module(module) for module in modules),
        groups=tuple(_group(group) for group in groups),
        placement=None if placement is None else _placement(json.loads(placement)),
    )


def _module(raw: Mapping[str, Any]) -> ModuleFigures:
    by_op, by_scope = ({name: Figures(**own) for name, own in raw[by].items()} for by in ("by_op", "by_scope"))
    return ModuleFigures(raw["name"], Figures(**raw["total"]), by_op, by_scope)


def _group(raw: dict[str, Any]) -> Group:
    raw = {**raw, "except_": tuple(raw["except"]), "params": tuple(raw["params"])}
    del raw["except"]
    decay = tuple((decay, count) for decay, count in raw["weight_decay"])
    return Group(**{**raw, "weight_decay": decay, "clip": raw["clip"] and tuple(raw["clip"])})


def _placement(raw: Mapping[str, Any]) -> Placement:
    def names(axes: str) -> tuple[str, ...]:
        return tuple(axes.split(", ")) if axes else ()

    buffers = ({**row, "shape": tuple(row["shape"]), "axes": tuple(map(names, row["axes"]))} for row in raw["buffers"])
    traffic = ({**{key: row[key] for key in row if key != "axis"}, "axes": names(row["axis"])} for row in raw["traffic"])
    return Placement(
        axes=Mesh(raw["axes"]),
        buffers=tuple(PlacedBuffers(**row) for row in buffers),
        traffic=tuple(Traffic(**row) for row in traffic),
    )


def install_plugin(*, wheel: str | os.PathLike[str] | None = None, progress: ProgressLike = None) -> Path:
    """Puts the PJRT plugin of CPU XLA in place, which `verify` runs programs with, and gives where it is.

    It is downloaded by this Python's `pip` (60 MB), or taken from a `wheel`, and held to a checksum.
    """
    with watched(progress, "installing the CPU plugin", unit="B") as tell:
        return Path(_native.install_plugin(sys.executable, None if wheel is None else os.fspath(wheel), tell))
