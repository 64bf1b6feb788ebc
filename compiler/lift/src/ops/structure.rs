//! Tuples, calls and what hands on its operands.

use crate::site::Site;
use halite_ir::Values;
use halite_ir::ops::{Call, CallWithGradient, OptimizationBarrier};

pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    match site.opcode() {
        "tuple" | "get-tuple-element" | "copy" | "all-reduce-done" => Some(Values::from_slice(site.args)),
        "domain" | "add-dependency" => site.args.get(..site.types.len()).map(Values::from_slice),
        "opt-barrier" => site.apply(OptimizationBarrier),
        "call" if composite_name(site).is_some_and(|name| name.starts_with(OURS)) => ours(site),
        "call" | "fusion" => {
            let callee = site.functions.get(site.graph.callee(site.at, 0)?).copied().flatten()?;
            site.apply(Call { callee })
        }
        _ => None,
    }
}

/// The beginning of the names of composites that stand for ops of the IR.
const OURS: &str = "halite.";

/// Those without attributes, which a program may have.
const PLAIN: [&str; 2] = ["relu", "stop_gradient"];

fn composite_name<'s>(site: &'s Site<'_, '_>) -> Option<&'s str> {
    attribute(site, "composite.name")
}

fn attribute<'s>(site: &'s Site<'_, '_>, name: &str) -> Option<&'s str> {
    site.inst().frontend_attributes.as_ref()?.map.get(name).map(String::as_str)
}

/// A composite by which a program says more than its decomposition does: of gradients.
fn ours(site: &mut Site<'_, '_>) -> Option<Values> {
    let name = composite_name(site)?.strip_prefix(OURS)?;
    if let Some(name) = PLAIN.iter().find(|own| **own == name) {
        return site.b.composite(name, &[], site.args).ok();
    }
    if name != "with_gradient" {
        return None;
    }
    let callee = site.functions.get(site.graph.callee(site.at, 0)?).copied().flatten()?;
    let values = attribute(site, "composite.attributes")?;
    let values =
        values.trim_start_matches('{').trim_end_matches('}').strip_suffix(": i64")?.strip_prefix("values =")?;
    let values = values.trim().parse().ok()?;
    CallWithGradient::operands(site.b.module().function(callee), values).ok()?;
    site.apply(CallWithGradient { callee, values })
}
