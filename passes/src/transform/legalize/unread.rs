//! Inputs that nothing reads.

use halite_ir::{Function, Module, Param, ParamRole, Registry, Rewriter};
use halite_support::Result;

/// Drops the parameters of the entry that neither an instruction nor a result names, and that are fed by name: a plain argument keeps its place.
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn drop_unread_inputs(module: &mut Module, registry: &Registry) -> Result<()> {
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let read = read_values(&entry);
    let stays = |param: &Param| read[param.value.index()] || param.role == ParamRole::Argument;
    if entry.params.iter().all(stays) {
        module.functions.push(entry);
        return Ok(());
    }
    let mut rewriter = Rewriter::without_params(module, registry, &entry);
    for param in entry.params.iter().filter(|param| stays(param)) {
        rewriter.copy_param(&entry, param);
    }
    entry.insts.iter().try_for_each(|inst| rewriter.copy(&entry, inst))?;
    rewriter.finish(&entry).map(drop)
}

/// For each value, whether an instruction or a result names it.
fn read_values(function: &Function) -> Vec<bool> {
    let mut read = vec![false; function.values.len()];
    let results = function.results.iter().map(|result| result.value);
    for value in function.insts.iter().flat_map(|inst| inst.args.iter().copied()).chain(results) {
        read[value.index()] = true;
    }
    read
}
