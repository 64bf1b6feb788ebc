//! Figures of IR modules.

use super::{Figures, Summary};
use halite_ir::{InferCx, Module, Registry, function_flops, inst_cost};
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
        let cost = inst_cost(&cx, &callees, entry, inst);
        summary.add(inst.op.name(), &module.locs.path(inst.loc), depth, Figures::of(cost.flops, cost.bytes));
    }
    summary.sort();
    Ok(summary)
}
