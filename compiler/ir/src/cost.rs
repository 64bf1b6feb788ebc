//! Floating-point operations of functions.

use crate::op::InferCx;
use crate::syntax::{FuncId, Function, Inst};

/// The floating-point operations of each function of a module, those of a callee at each call. Each function is looked at
/// once, callees first; counts that do not fit in 64 bits are the largest that does.
pub fn function_flops(cx: &InferCx<'_>) -> Vec<u64> {
    let mut known: Vec<u64> = Vec::with_capacity(cx.functions.len());
    for function in cx.functions {
        known.push(sum(function, |inst| match inst.op.callee() {
            Some(callee) => known.get(callee.index()).copied().unwrap_or(0),
            None => inst_flops(cx, function, inst),
        }));
    }
    known
}

/// The same of one function that may be called.
pub(crate) fn callee_flops(cx: &InferCx<'_>, callee: FuncId) -> u64 {
    let functions = cx.functions.get(..=callee.index()).unwrap_or_default();
    function_flops(&InferCx { functions, registry: cx.registry }).last().copied().unwrap_or(0)
}

/// The same of the body of a composite, which calls nothing.
pub(crate) fn body_flops(cx: &InferCx<'_>, body: &Function) -> u64 {
    sum(body, |inst| inst_flops(cx, body, inst))
}

fn inst_flops(cx: &InferCx<'_>, function: &Function, inst: &Inst) -> u64 {
    let args: Vec<_> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    let results: Vec<_> = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
    inst.op.def().cost(cx, &args, &results).flops
}

fn sum(function: &Function, of: impl Fn(&Inst) -> u64) -> u64 {
    function.insts.iter().fold(0, |sum, inst| sum.saturating_add(of(inst)))
}
