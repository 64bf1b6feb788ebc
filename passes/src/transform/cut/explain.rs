//! What is said of a cut.

use super::joint::{Choice, Joint};
use halite_ir::{Function, InferCx, Value, function_flops, inst_cost};
use halite_support::units::{bytes, short};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// What a forward keeps at each call, what it is the result of, and what its backward computes again.
pub(super) fn explain(cx: &InferCx<'_>, forward: &str, joint: &Joint, choice: &Choice) -> String {
    let function = &joint.function;
    let args = choice.args.iter().filter(|at| !choice.free.contains(at)).map(|&at| function.params[at].value);
    let kept: Vec<Value> = args.chain(choice.kept.iter().copied()).collect();
    let size = bytes(kept.iter().map(|&value| function.ty(value).bytes()).sum());
    let listed: Vec<String> = kept.iter().map(|&value| kept_value(function, value)).collect();
    let listed = if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") };
    let again = again(cx, joint, choice);
    format!("`@{forward}` keeps {size} at each call: {listed}; computed again: {again}")
}

fn kept_value(function: &Function, value: Value) -> String {
    let data = &function.values[value.index()];
    match (&data.hint, function.def(value)) {
        (Some(hint), Some(inst)) => format!("`{hint}` {} of `{}`", data.ty, inst.op.name()),
        (None, Some(inst)) => format!("{} of `{}`", data.ty, inst.op.name()),
        (_, None) => {
            let name = function.params.iter().find(|param| param.value == value).map_or("", |param| &param.name);
            format!("its argument `{name}` {}", data.ty)
        }
    }
}

/// What both compute, counted by op, and its floating-point operations.
fn again(cx: &InferCx<'_>, joint: &Joint, choice: &Choice) -> String {
    let (forward, callees) = (joint.forward_insts(choice), function_flops(cx));
    let mut counts: IndexMap<&str, usize, FxBuildHasher> = IndexMap::default();
    let mut flops: u64 = 0;
    for inst in choice.again.iter().filter(|&&at| forward[at]).map(|&at| &joint.function.insts[at]) {
        *counts.entry(inst.op.name()).or_default() += 1;
        flops = flops.saturating_add(inst_cost(cx, &callees, &joint.function, inst).flops);
    }
    let ops: Vec<String> = counts.iter().map(|(op, count)| format!("{count} {op}")).collect();
    if ops.is_empty() { "nothing".to_owned() } else { format!("{}, {} FLOPs", ops.join(", "), short(flops)) }
}
