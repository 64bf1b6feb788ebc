//! The instructions that values follow from.

use halite_ir::{Function, Value};

/// For each instruction, whether some of these values follow from it. Of an instruction that is not `chosen` nothing is needed: its results are
/// there without it.
pub(crate) fn needed(
    function: &Function,
    values: impl Iterator<Item = Value>,
    chosen: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut wanted = vec![false; function.values.len()];
    values.for_each(|value| wanted[value.index()] = true);
    let mut needed = vec![false; function.insts.len()];
    for (at, inst) in function.insts.iter().enumerate().rev() {
        needed[at] = chosen(at) && inst.results.iter().any(|result| wanted[result.index()]);
        if needed[at] {
            inst.args.iter().for_each(|arg| wanted[arg.index()] = true);
        }
    }
    needed
}
