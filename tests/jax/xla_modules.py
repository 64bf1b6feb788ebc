"""HLO and StableHLO in jaxlib, whose names for these differ by version, and where both are found."""

import json

from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

try:
    from jaxlib import _hlo
except ImportError:  # Until jaxlib 0.7.
    _hlo = xla_client._xla


def computation(data):
    """A module of HLO from its bytes."""
    return _hlo.XlaComputation(data)


def translated(text):
    """The HLO that XLA makes of a text."""
    return xla_client._xla.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=True)


def converted(data):
    """The StableHLO that XLA makes of the bytes of HLO."""
    return xla_client._xla.mlir.xla_computation_to_mlir_module(computation(data))


def context():
    """A context with the dialects of JAX and that of MHLO, in which to parse."""
    return mlir.make_ir_context()


def verified(text):
    """The module of a text, which MLIR's verifier has passed. It lives in the context that is entered."""
    module = ir.Module.parse(text)
    if not module.operation.verify():
        raise ValueError("MLIR's verifier refuses it")
    return module


def texts(path):
    """The texts at a path, each with the HLO that it was written from where that is known.

    A path is a bundle, a folder of `NAME.mlir` beside `NAME.hlo.pb`, or a text.
    """
    if path.is_file():
        return [(path, None)]
    if not (path / "manifest.json").exists():
        return [(text, text.with_suffix(".hlo.pb").read_bytes()) for text in sorted(path.glob("*.mlir"))]
    modules = json.loads((path / "manifest.json").read_text())["modules"]
    return [(path / f"{module['name']}.mlir", (path / module["file"]).read_bytes()) for module in modules]
