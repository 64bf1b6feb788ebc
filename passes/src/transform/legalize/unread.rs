//! Inputs that nothing reads.

use crate::framework::target::UnreadInputs;
use halite_ir::{FuncResult, Function, Module, Param, ParamRole, Registry, ResultRole, Rewriter};
use halite_support::{Name, Result};
use rustc_hash::FxHashSet;

/// Drops those parameters of the entry that neither an instruction nor a result names, and that no result replaces.
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn drop_unread_inputs(module: &mut Module, registry: &Registry, which: UnreadInputs) -> Result<()> {
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let read = read_values(&entry);
    let is_batch = |param: &Param| param.role == ParamRole::Batch;
    let reads_batch = entry.params.iter().any(|param| is_batch(param) && read[param.value.index()]);
    let goes = |param: &Param| match which {
        UnreadInputs::Stay => false,
        UnreadInputs::FedGo => reads_batch && is_batch(param),
        UnreadInputs::Go => true,
    };
    let replaced: FxHashSet<&Name> = entry.results.iter().filter_map(replaces).collect();
    let stays = |param: &Param| read[param.value.index()] || replaced.contains(&param.name) || !goes(param);
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

/// The parameter that a result takes the place of.
pub(super) fn replaces(result: &FuncResult) -> Option<&Name> {
    if let ResultRole::State(of) = &result.role { Some(of) } else { None }
}

/// For each value, whether an instruction or a result names it.
pub(super) fn read_values(function: &Function) -> Vec<bool> {
    let mut read = vec![false; function.values.len()];
    let results = function.results.iter().map(|result| result.value);
    for value in function.insts.iter().flat_map(|inst| inst.args.iter().copied()).chain(results) {
        read[value.index()] = true;
    }
    read
}
