//! Tuples, calls and what hands on its operands.

use crate::site::Site;
use halite_ir::Values;
use halite_ir::ops::{Call, OptimizationBarrier};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "tuple" | "get-tuple-element" | "copy" | "all-reduce-done" => Some(Values::from_slice(site.args)),
        "domain" | "add-dependency" => site.args.get(..site.types.len()).map(Values::from_slice),
        "opt-barrier" => site.apply(OptimizationBarrier),
        "call" | "fusion" => {
            let callee = site.functions.get(site.graph.callee(site.at, 0)?).copied().flatten()?;
            site.apply(Call { callee })
        }
        _ => None,
    }
}
