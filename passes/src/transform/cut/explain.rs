//! Remarks on a cut.

use super::joint::{Choice, Joint};
use halite_ir::{Function, Value};
use halite_support::units::{bytes, short};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The remark on a cut: the values that a forward keeps at each call, with their ops, and the ops that its backward computes again,
/// with their number of operations.
pub(super) fn explain(joint: &Joint, choice: &Choice, flops: u64) -> String {
    let (function, kept) = (&joint.function, joint.kept(choice));
    let size = bytes(kept.iter().map(|&value| function.ty(value).bytes()).sum());
    let listed: Vec<String> = kept.iter().map(|&value| kept_value(function, value)).collect();
    let listed = if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") };
    let again = again(joint, choice, flops);
    format!("keeps {size} at each call: {listed}; computed again: {again}")
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

/// The instructions that both compute, counted by op, and their floating-point operations.
fn again(joint: &Joint, choice: &Choice, flops: u64) -> String {
    let mut counts: IndexMap<&str, usize, FxBuildHasher> = IndexMap::default();
    joint.computed_again(choice).iter().for_each(|inst| *counts.entry(inst.op.name()).or_default() += 1);
    let ops: Vec<String> = counts.iter().map(|(op, count)| format!("{count} {op}")).collect();
    if ops.is_empty() { "nothing".to_owned() } else { format!("{}, {} FLOPs", ops.join(", "), short(flops)) }
}
