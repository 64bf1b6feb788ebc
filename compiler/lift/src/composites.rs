//! Composites of programs that say more than their decompositions do.

use crate::site::Site;
use halite_hlo::proto::HloInstructionProto;
use halite_ir::Values;
use halite_ir::ops::CallWithGradient;

/// The beginning of the names of Halite's own.
const OURS: &str = "halite.";

/// Those that are composites of the IR, whose gradients they have and which recognition knows.
const KNOWN: [(&str, &str); 3] =
    [("chlo.erfc", "erfc"), ("halite.relu", "relu"), ("halite.stop_gradient", "stop_gradient")];

/// The one by which a program states a gradient.
const WITH_GRADIENT: &str = "halite.with_gradient";

/// Halite's composites that a program may have.
pub fn own_composites() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name).filter(|name| is_own(name)).chain([WITH_GRADIENT])
}

/// Whether a composite is called as Halite's own are, be it one or not.
pub fn is_own(name: &str) -> bool {
    name.starts_with(OURS)
}

/// The meaning that a call states.
pub(crate) enum Meaning {
    /// That of a composite of the IR.
    Composite(&'static str),
    WithGradient,
    /// That of one of Halite's which there is not.
    Unknown,
}

/// The meaning that a call states, where it has another one than any call.
pub(crate) fn meaning(inst: &HloInstructionProto) -> Option<Meaning> {
    let name = name(inst)?;
    match KNOWN.iter().find(|(composite, _)| *composite == name) {
        Some((_, known)) => Some(Meaning::Composite(known)),
        None if name == WITH_GRADIENT => Some(Meaning::WithGradient),
        None => is_own(name).then_some(Meaning::Unknown),
    }
}

/// The name of the composite that a call stands for.
pub(crate) fn name(inst: &HloInstructionProto) -> Option<&str> {
    attribute(inst, "composite.name")
}

fn attribute<'i>(inst: &'i HloInstructionProto, name: &str) -> Option<&'i str> {
    inst.frontend_attributes.as_ref()?.map.get(name).map(String::as_str)
}

/// A call whose function gives the gradient too.
pub(crate) fn with_gradient(site: &mut Site<'_, '_>) -> Option<Values> {
    let callee = site.callee()?;
    let values = attribute(site.inst(), "composite.attributes")?;
    let values =
        values.trim_start_matches('{').trim_end_matches('}').strip_suffix(": i64")?.strip_prefix("values =")?;
    let values = values.trim().parse().ok()?;
    CallWithGradient::operands(site.b.module().function(callee), values).ok()?;
    site.apply(CallWithGradient { callee, values })
}
