//! Small tensors that do not depend on any input.

use halite_ir::{EvalCx, Function, InferCx, Inst, Registry, Value};
use halite_tensor::HostTensor;
use std::collections::{BTreeMap, BTreeSet};

/// The most elements that are computed.
const MAX_ELEMENTS: usize = 64 * 1024;

/// The most instructions that a value may take.
const MAX_INSTS: usize = 64;

/// The constant that a value is in every run, when it is small and follows from constants.
pub(crate) fn constant_value(registry: &Registry, function: &Function, value: Value) -> Option<HostTensor> {
    let cx = InferCx { functions: &[], registry };
    let mut known: BTreeMap<Value, HostTensor> = BTreeMap::new();
    for needed in needed(&cx, function, value)? {
        let inst = function.def(needed)?;
        let args: Vec<&HostTensor> = inst.args.iter().map(|arg| known.get(arg)).collect::<Option<_>>()?;
        let results = [function.ty(needed).clone()];
        let eval = EvalCx { functions: cx.functions, registry, results: &results };
        let result = inst.op.def().eval(&eval, &args).ok()?.pop()?;
        known.insert(needed, result);
    }
    known.remove(&value)
}

/// The values that one follows from, itself included, in the order of their definitions; `None` when some are not known, or
/// too many are needed.
fn needed(cx: &InferCx<'_>, function: &Function, value: Value) -> Option<BTreeSet<Value>> {
    let (mut open, mut needed) = (vec![value], BTreeSet::new());
    while let Some(value) = open.pop() {
        let inst = function.def(value).filter(|inst| is_constant(cx, function, inst))?;
        if needed.insert(value) {
            open.extend(&inst.args);
        }
        if needed.len() > MAX_INSTS {
            return None;
        }
    }
    Some(needed)
}

/// Whether the result of an instruction is small and follows from its operands.
fn is_constant(cx: &InferCx<'_>, function: &Function, inst: &Inst) -> bool {
    let [result] = inst.results.as_slice() else { return false };
    let is_small = function.ty(*result).shape().num_elements() <= MAX_ELEMENTS;
    let is_pure = inst.op.callee().is_none() && !inst.rounds_at_random() && inst.op.def().effect(cx).movable;
    is_small && is_pure
}
