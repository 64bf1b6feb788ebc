//! The form that masks are given.

use halite_ir::{Function, Inst, Op, Value};

/// Whether a value is a mask as this pass writes it, so that there is nothing left to do.
pub(super) fn is_folded(function: &Function, value: Value) -> bool {
    let Some(inst) = function.def(value) else { return false };
    match &inst.op {
        Op::Select(_) => is_spread(function, inst.args[0]) && inst.args[1..].iter().all(|&arg| is_fill(function, arg)),
        Op::Not(_) => is_spread(function, inst.args[0]),
        _ => is_spread(function, value),
    }
}

/// `causal_mask`, perhaps broadcast and reshaped.
fn is_spread(function: &Function, value: Value) -> bool {
    let mut next = function.def(value);
    while let Some(Inst { op: Op::BroadcastInDim(_) | Op::Reshape(_), args, .. }) = next {
        next = function.def(args[0]);
    }
    next.is_some_and(|inst| inst.op.name() == "causal_mask")
}

fn is_fill(function: &Function, value: Value) -> bool {
    matches!(function.def(value), Some(Inst { op: Op::Constant(constant), .. }) if constant.is_splat())
}
