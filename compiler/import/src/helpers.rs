//! Small functions, as frameworks write one for a square or a choice.

use halite_ir::graph::stating_gradients;
use halite_ir::{Function, Module, Registry, inline_calls};
use halite_support::Result;

/// The most instructions of a helper: those of an activation, a variance or an index that may be negative.
const SMALL: usize = 64;

/// Writes small functions into those that call them, where what is spelled over several of them is seen as one. Layers stay functions, and so
/// do those that state their gradients.
///
/// # Errors
/// None but bugs.
pub(crate) fn write_out(module: &mut Module, registry: &Registry) -> Result<()> {
    let mut sizes: Vec<usize> = Vec::with_capacity(module.functions.len());
    for (function, states_gradient) in module.functions.iter().zip(stating_gradients(module)) {
        // Callees come before callers.
        let size = size(function, &sizes);
        sizes.push(if states_gradient { usize::MAX } else { size });
    }
    let small: Vec<bool> = sizes.iter().map(|&size| size <= SMALL).collect();
    let everywhere = vec![true; small.len()];
    inline_calls(module, registry, &small, &everywhere)?;
    module.drop_unreached();
    Ok(())
}

/// The instructions of a function with those of the small ones that it calls.
fn size(function: &Function, sizes: &[usize]) -> usize {
    let calls = function.insts.iter().filter_map(|inst| inst.call());
    let callees = calls.map(|call| sizes[call.callee.index()]).filter(|&size| size <= SMALL);
    callees.fold(function.insts.len(), usize::saturating_add)
}
