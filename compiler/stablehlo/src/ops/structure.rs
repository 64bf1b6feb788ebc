//! Tuples, which are several values here, and what calls.

use crate::op::{Meaning, Op};
use crate::quoted::string;
use crate::site::Site;
use halite_support::Result;

/// The version of custom calls whose configuration is no text.
const TYPED_FFI: i32 = 4;

/// The values of the elements. [`Site::results`] refuses elements that are tuples.
pub(super) fn tuple(site: &Site<'_>) -> Result<Meaning> {
    site.results()?;
    site.operands().map(Meaning::Values)
}

pub(super) fn element(site: &Site<'_>) -> Result<Meaning> {
    let index = usize::try_from(site.inst().tuple_index).ok();
    let value = index.and_then(|index| site.values_of(0).ok()?.get(index));
    Ok(Meaning::Values(vec![site.needed(value, "such element")?.clone()]))
}

pub(super) fn call(site: &Site<'_>) -> Result<Op> {
    let callee = site.graph.callee(site.at, 0).and_then(|callee| site.symbols.of(callee));
    Ok(site.op()?.with("callee", site.needed(callee, "called computation")?))
}

pub(super) fn custom_call(site: &Site<'_>) -> Result<Op> {
    let inst = site.inst();
    if site.graph.calls(site.at) {
        return Err(site.fault("it calls computations"));
    }
    if inst.constrain_layout {
        return Err(site.fault("it asks for layouts"));
    }
    if inst.custom_call_api_version >= TYPED_FFI && !inst.backend_config.is_empty() {
        return Err(site.fault("its configuration is not the text of an older calling convention"));
    }
    let op = site.op()?.with("call_target_name", string(inst.custom_call_target.as_bytes()));
    let op = match inst.custom_call_has_side_effect {
        true => op.with("has_side_effect", "true"),
        false => op,
    };
    let op = match inst.backend_config.as_slice() {
        [] => op,
        config => op.with("backend_config", string(config)),
    };
    Ok(match inst.custom_call_api_version {
        0 => op,
        version => op.with("api_version", format!("{version} : i32")),
    })
}
