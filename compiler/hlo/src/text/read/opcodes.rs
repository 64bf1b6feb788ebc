//! Opcodes of XLA outside our set. They are read as they are from bytes: with the attributes that the messages have fields for.

use crate::opcode::Opcode;

/// All of them, as of JAX 0.10.2.
const FOREIGN: [&str; 57] = [
    "acos",
    "acosh",
    "add-dependency",
    "after-all",
    "all-gather-done",
    "all-gather-start",
    "all-reduce-done",
    "all-reduce-start",
    "asin",
    "asinh",
    "async-done",
    "async-start",
    "async-update",
    "atanh",
    "batch-norm-grad",
    "batch-norm-inference",
    "batch-norm-training",
    "bitcast",
    "cholesky",
    "collective-broadcast",
    "collective-permute-done",
    "collective-permute-start",
    "complex",
    "conditional",
    "copy-done",
    "copy-start",
    "cosh",
    "domain",
    "dynamic-reshape",
    "fft",
    "fusion",
    "get-dimension-size",
    "imag",
    "infeed",
    "map",
    "mulhi",
    "outfeed",
    "partition-id",
    "ragged-all-to-all",
    "ragged-dot",
    "real",
    "recv",
    "recv-done",
    "reduce-precision",
    "rng",
    "rng-get-and-update-state",
    "scaled-dot",
    "scan",
    "send",
    "send-done",
    "set-dimension-size",
    "sinh",
    "sort",
    "stochastic-convert",
    "topk",
    "triangular-solve",
    "while",
];

/// Whether XLA has an opcode of this name that our set lacks.
pub(super) fn is_foreign(name: &str) -> bool {
    FOREIGN.contains(&name)
}

/// The names of all opcodes.
pub(super) fn names() -> Vec<&'static str> {
    Opcode::ALL.iter().map(|opcode| opcode.name()).chain(FOREIGN).collect()
}
