//! Tuples, calls and what hands on its operands.

use crate::site::Site;
use halite_ir::Values;
use halite_ir::ops::{Call, OptimizationBarrier};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "tuple" | "get-tuple-element" | "copy" | "all-reduce-done" => Some(Values::from_slice(site.args)),
        "domain" | "add-dependency" => site.args.get(..site.types.len()).map(Values::from_slice),
        "opt-barrier" => site.apply(OptimizationBarrier),
        "call" if stops_gradients(site) => site.b.composite("stop_gradient", &[], site.args).ok(),
        "call" | "fusion" => {
            let callee = site.functions.get(site.graph.callee(site.at, 0)?).copied().flatten()?;
            site.apply(Call { callee })
        }
        _ => None,
    }
}

/// The name of the composite by which a program says that no gradient goes through an array; its decomposition is the array.
const STOP_GRADIENT: &str = "halite.stop_gradient";

fn stops_gradients(site: &Site<'_, '_>) -> bool {
    let attributes = site.inst().frontend_attributes.as_ref();
    attributes.and_then(|own| own.map.get("composite.name")).is_some_and(|name| name == STOP_GRADIENT)
}
