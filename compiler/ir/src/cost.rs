//! Costs of instructions and functions.

use crate::infer::InferCx;
use crate::op::Cost;
use crate::syntax::{FuncId, Function, Inst};

/// The floating-point operations of each function of a module, those of a callee at each call. Each function is looked at
/// once, callees first; counts that do not fit in 64 bits are the largest that does.
pub fn function_flops(cx: &InferCx<'_>) -> Vec<u64> {
    function_totals(cx.functions, |function| own_flops(cx, function))
}

/// For each function of a module, the total of `own`, which counts its instructions that are no calls, and of the totals of its
/// callees, one for each call.
pub fn function_totals(functions: &[Function], own: impl Fn(&Function) -> u64) -> Vec<u64> {
    let mut known: Vec<u64> = Vec::with_capacity(functions.len());
    for function in functions {
        let called = function.insts.iter().filter_map(|inst| inst.op.callee());
        let called = called.map(|callee| known.get(callee.index()).copied().unwrap_or(0));
        let total = called.fold(own(function), u64::saturating_add);
        known.push(total);
    }
    known
}

/// The cost of an instruction of a function. `callees` are the floating-point operations of the functions before it
/// ([`function_flops`]).
pub fn inst_cost(cx: &InferCx<'_>, callees: &[u64], function: &Function, inst: &Inst) -> Cost {
    let args: Vec<_> = inst.args.iter().map(|&arg| function.ty(arg)).collect();
    let results: Vec<_> = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
    match inst.op.callee() {
        Some(callee) => Cost::new(callees.get(callee.index()).copied().unwrap_or(0), &args, &results),
        None => inst.op.def().cost(cx, &args, &results),
    }
}

/// The floating-point operations of one function that may be called.
pub(crate) fn callee_flops(cx: &InferCx<'_>, callee: FuncId) -> u64 {
    let functions = cx.functions.get(..=callee.index()).unwrap_or_default();
    function_flops(&InferCx { functions, registry: cx.registry }).last().copied().unwrap_or(0)
}

/// The floating-point operations of the instructions of a function that are no calls.
pub(crate) fn own_flops(cx: &InferCx<'_>, function: &Function) -> u64 {
    function.insts.iter().map(|inst| inst_cost(cx, &[], function, inst).flops).fold(0, u64::saturating_add)
}
