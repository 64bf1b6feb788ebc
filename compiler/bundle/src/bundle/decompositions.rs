//! Running without the kernels of a target.

use halite_hlo::CheckedHlo;
use halite_hlo::proto::HloModuleProto;
use halite_support::{Diagnostic, Result, codes};
use std::borrow::Cow;

const AGAIN: &str = "compile the bundle again";

/// The module `name` with the decompositions of its kernels in their place. `decomposition` gives the file of a decomposition by its name.
///
/// # Errors
/// When a file is no sound HLO, a kernel names no decomposition, and what `decomposition` says.
pub fn link<'b>(
    bytes: &'b [u8],
    name: &str,
    decomposition: impl Fn(&str) -> Result<&'b [u8]>,
) -> Result<Cow<'b, [u8]>> {
    let hlo = sound(bytes, name)?;
    if !hlo.computations.iter().flat_map(|computation| &computation.instructions).any(halite_hlo::is_custom_call) {
        return Ok(Cow::Borrowed(bytes));
    }
    let linked = halite_hlo::link_decompositions(&hlo, |decomposition_name| {
        sound(decomposition(decomposition_name)?, decomposition_name).map(CheckedHlo::into_module)
    });
    let linked = linked.map_err(|error| unsound(name, &error))?;
    Ok(Cow::Owned(checked(linked, name)?.encode()))
}

/// The module in a file, unless it breaks a rule of XLA, which ends the process on some such modules.
///
/// # Errors
/// When the file is no sound HLO.
pub fn sound(bytes: &[u8], name: &str) -> Result<CheckedHlo> {
    checked(halite_hlo::decode(bytes)?, name)
}

fn checked(hlo: HloModuleProto, name: &str) -> Result<CheckedHlo> {
    CheckedHlo::new(hlo).map_err(|broken| unsound(name, &broken))
}

fn unsound(name: &str, finding: &Diagnostic) -> Diagnostic {
    Diagnostic::error(codes::BUNDLE, format!("the HLO of `{name}` is not sound: {}", finding.message())).help(AGAIN)
}
