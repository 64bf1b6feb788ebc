//! Running without the kernels of a target.

use super::Bundle;
use halite_hlo::proto::HloModuleProto;
use halite_spec::ModuleEntry;
use halite_support::{Diagnostic, Result, Severity, codes};
use std::borrow::Cow;

const AGAIN: &str = "compile the bundle again";

pub(super) fn link<'b>(bundle: &'b Bundle, module: &ModuleEntry) -> Result<Cow<'b, [u8]>> {
    let bytes = bundle.hlo(module)?;
    let hlo = sound(bytes, &module.name)?;
    if !hlo.computations.iter().flat_map(|computation| &computation.instructions).any(halite_hlo::is_custom_call) {
        return Ok(Cow::Borrowed(bytes));
    }
    let twin = |name: &str| {
        let missing = || Diagnostic::error(codes::BUNDLE, format!("the bundle has no twin `{name}`"));
        let twin = module.twins.iter().find(|twin| twin.name == name).ok_or_else(missing)?;
        sound(bundle.file(&twin.file, name)?, name)
    };
    let linked = halite_hlo::link_twins(&hlo, twin).map_err(|error| unsound(&module.name, &error))?;
    check(&linked, &module.name)?;
    Ok(Cow::Owned(halite_hlo::encode(&linked)))
}

/// The module in a file, unless it breaks a rule of XLA, which ends the process on some such modules.
fn sound(bytes: &[u8], name: &str) -> Result<HloModuleProto> {
    let hlo = halite_hlo::decode(bytes)?;
    check(&hlo, name)?;
    Ok(hlo)
}

fn check(hlo: &HloModuleProto, name: &str) -> Result<()> {
    let findings = halite_hlo::check(hlo);
    match findings.into_iter().find(|finding| finding.severity() >= Severity::Error) {
        None => Ok(()),
        Some(finding) => Err(unsound(name, &finding)),
    }
}

fn unsound(name: &str, finding: &Diagnostic) -> Diagnostic {
    Diagnostic::error(codes::BUNDLE, format!("the HLO of `{name}` is not sound: {}", finding.message())).help(AGAIN)
}
