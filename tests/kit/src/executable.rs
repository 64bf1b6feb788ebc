//! From any function of a module to HLO that runs.

use crate::xla;
use halite_ir::{LocTable, LowerOptions, Module, ParamRole, Phase, Registry, ResultRole};
use halite_support::{Diagnostic, Result};

/// The serialized HLO of the function of this name alone, without roles.
///
/// # Errors
/// An error of a pass, the lowering or the HLO checker.
pub fn executable(module: &Module, function: &str, registry: &Registry) -> Result<Vec<u8>> {
    xla::hlo(&alone(module, function)?, registry, LowerOptions::default())
}

/// The functions up to the named one, as a built module of plain functions.
fn alone(module: &Module, function: &str) -> Result<Module> {
    let last = module.find(function).ok_or_else(|| Diagnostic::bug(format!("no function `@{function}`")))?;
    let mut module = module.clone();
    module.name = "golden".into();
    module.phase = Phase::Built;
    module.functions.truncate(last.index() + 1);
    module.locs = LocTable::default();
    for function in &mut module.functions {
        function.params.iter_mut().for_each(|param| param.role = ParamRole::Argument);
        function.results.iter_mut().for_each(|result| result.role = ResultRole::Value);
        function.insts.iter_mut().for_each(|inst| inst.loc = LocTable::unknown());
    }
    Ok(module)
}
