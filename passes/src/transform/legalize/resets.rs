//! Constants that replace state.

use halite_ir::{Function, Module, Op, Registry, ResultRole, Rewriter, Value};
use halite_support::Result;

/// Makes the constants last that replace state, each for itself: a replacement takes the buffer of what it replaces, which
/// nothing may read from then on, and constants stand before their first reader.
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn make_last(module: &mut Module, registry: &Registry) -> Result<()> {
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let resets: Vec<bool> = entry.results.iter().map(|result| resets(&entry, &result.role, result.value)).collect();
    if !resets.contains(&true) {
        module.functions.push(entry);
        return Ok(());
    }
    let mut b = Rewriter::new(module, registry, &entry);
    entry.insts.iter().try_for_each(|inst| b.copy(&entry, inst))?;
    for (result, resets) in entry.results.iter().zip(resets) {
        let value = match entry.def(result.value) {
            Some(constant) if resets => {
                let outer = b.set_loc(constant.loc);
                let own = reset(&mut b, &constant.op)?;
                b.set_loc(outer);
                own
            }
            _ => b.value(result.value)?,
        };
        b.named_result(value, result.name.clone(), result.role.clone());
    }
    b.into_builder().finish();
    Ok(())
}

/// The constant once more. In HLO equal scalars are one instruction, so that a scalar comes out of a tensor.
fn reset(b: &mut Rewriter<'_>, constant: &Op) -> Result<Value> {
    let own = b.emit(constant.clone(), &[])?;
    if b.ty(own).rank() > 0 {
        return Ok(own);
    }
    let one = b.broadcast_in_dim(own, &[], [1])?;
    b.reshape(one, [])
}

fn resets(entry: &Function, role: &ResultRole, value: Value) -> bool {
    matches!(role, ResultRole::State(_)) && entry.def(value).is_some_and(|def| matches!(def.op, Op::Constant(_)))
}
