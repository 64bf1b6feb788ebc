//! Values that may be infinite although no input is large.

use super::TransferCx;
use halite_ir::ops::Reduction;
use halite_ir::{Def, Function, Inst, Op, Value};

/// The most instructions that are followed back to the maximum of an exponential.
const MAX_STEPS: usize = 16;

/// Whether the result of an instruction may be infinite although no input is large. Exponentials may, unless the largest number was
/// subtracted before, and so may values that are computed from them, except where an op saturates.
pub(super) fn grows(cx: &TransferCx<'_>) -> bool {
    let any = || cx.args.iter().any(|arg| arg.grows);
    match &cx.inst.op {
        Op::Exponential(_) | Op::ExponentialMinusOne(_) => !cx.capped && !cx.args[0].is_static(),
        Op::Power(_) => any() || !cx.args[1].is_static(),
        Op::Logistic(_) | Op::Tanh(_) | Op::Erf(_) | Op::Sign(_) | Op::IsFinite(_) | Op::Compare(_) => false,
        Op::Divide(_) => cx.args[0].grows,
        _ => any(),
    }
}

/// Whether an exponential is one of numbers from which their maximum was subtracted; `is_rounding` names the instructions
/// that only round their first operand.
pub(in crate::causality) fn is_capped(function: &Function, inst: &Inst, is_rounding: &dyn Fn(&Inst) -> bool) -> bool {
    let def = |value: Value| match function.values[value.index()].def {
        Def::Inst(index, _) => Some(&function.insts[index as usize]),
        Def::Param(_) => None,
    };
    let before = |mut value: Value| {
        let keeps = |inst: &&Inst| {
            let is_barrier = matches!(inst.op, Op::OptimizationBarrier(_)) && inst.args.len() == 1;
            is_barrier || matches!(inst.op, Op::Convert(_)) || is_rounding(inst)
        };
        while let Some(inst) = def(value).filter(keeps) {
            value = inst.args[0];
        }
        value
    };
    let Some(inst) = def(before(inst.args[0])).filter(|inst| matches!(inst.op, Op::Subtract(_))) else { return false };
    let (whole, mut peak) = (before(inst.args[0]), inst.args[1]);
    for _ in 0..MAX_STEPS {
        let Some(inst) = def(before(peak)) else { return false };
        peak = match &inst.op {
            Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Maximum(_) => inst.args[0],
            Op::Select(_) => inst.args[1],
            Op::Reduce(reduce) => return matches!(reduce.kind, Reduction::Max) && before(inst.args[0]) == whole,
            _ => return false,
        };
    }
    false
}
