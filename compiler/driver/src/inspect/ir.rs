//! Figures of IR modules.

use super::{Figures, Summary};
use halite_ir::{Cost, InferCx, Module, Registry, function_flops};
use halite_support::{Diagnostic, Result};

/// The figures of a module's entry; scopes are cut to `depth` levels. Bytes are those read and written.
/// A call counts as one instruction with the operations of its callee.
///
/// # Errors
/// When the module has no function.
pub fn summarize(module: &Module, registry: &Registry, depth: usize) -> Result<Summary> {
    let entry = module.entry().ok_or_else(|| Diagnostic::bug("a verified module without functions"))?;
    let cx = InferCx { functions: &module.functions, registry };
    let callees = function_flops(&cx);
    let mut summary = Summary::new(&*module.name);
    for inst in &entry.insts {
        let args: Vec<_> = inst.args.iter().map(|&arg| entry.ty(arg)).collect();
        let results: Vec<_> = inst.results.iter().map(|&result| entry.ty(result).clone()).collect();
        let cost = match inst.op.callee() {
            Some(callee) => Cost::new(callees[callee.index()], &args, &results),
            None => inst.op.def().cost(&cx, &args, &results),
        };
        summary.add(inst.op.name(), &module.locs.path(inst.loc), depth, Figures::of(cost.flops, cost.bytes));
    }
    summary.sort();
    Ok(summary)
}
