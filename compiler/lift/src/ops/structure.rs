//! Tuples, calls and what hands on its operands.

use crate::composites::{Meaning, meaning, with_gradient};
use crate::site::Site;
use halite_ir::Values;
use halite_ir::ops::{Call, OptimizationBarrier};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "tuple" | "get-tuple-element" | "copy" | "all-reduce-done" => Some(Values::from_slice(site.args)),
        "domain" | "add-dependency" => site.args.get(..site.types.len()).map(Values::from_slice),
        "opt-barrier" => site.apply(OptimizationBarrier),
        "call" | "fusion" => called(site),
        _ => None,
    }
}

/// A call, or what it stands for.
fn called(site: &mut Site<'_, '_>) -> Option<Values> {
    match meaning(site.inst()) {
        None => {
            let callee = site.callee()?;
            site.apply(Call { callee })
        }
        Some(Meaning::Composite(name)) => site.b.composite(name, &[], site.args).ok(),
        Some(Meaning::WithGradient) => with_gradient(site),
        Some(Meaning::Unknown) => None,
    }
}
