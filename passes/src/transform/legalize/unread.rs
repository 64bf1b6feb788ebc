//! Inputs that nothing reads.

use crate::framework::target::UnreadInputs;
use halite_ir::{Function, Module, Param, ParamRole, Registry, Rewriter};
use halite_support::Result;

/// Drops those parameters of the entry that neither an instruction nor a result names.
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
    let stays = |param: &Param| read[param.value.index()] || !goes(param);
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
