//! Replacements of state that stand too early.

use halite_ir::{FuncResult, Function, Inst, Module, Op, Registry, ResultRole, Rewriter, Value};
use halite_support::Result;

/// Computes replacements of state that stand too early once more, at the end: a replacement takes the buffer of the parameter that it
/// replaces, which nothing may read from then on. Constants stand before their first reader, and the number of an update where random
/// bits first ask for it.
///
/// # Errors
/// A bug when the entry cannot be copied.
pub(super) fn make_last(module: &mut Module, registry: &Registry) -> Result<()> {
    let Some(entry) = module.functions.pop() else { return Ok(()) };
    let early: Vec<Option<&Inst>> = entry.results.iter().map(|result| early(&entry, result)).collect();
    if early.iter().all(Option::is_none) {
        module.functions.push(entry);
        return Ok(());
    }
    let mut b = Rewriter::new(module, registry, &entry);
    entry.insts.iter().try_for_each(|inst| b.copy(&entry, inst))?;
    for (result, early) in entry.results.iter().zip(early) {
        let value = match early {
            Some(inst) => {
                let outer = b.set_loc(inst.loc);
                let own = again(&mut b, inst)?;
                b.set_loc(outer);
                own
            }
            None => b.value(result.value)?,
        };
        b.named_result(value, result.name.clone(), result.role.clone());
    }
    b.into_builder().finish();
    Ok(())
}

/// The instruction once more. In HLO equal scalar constants are one instruction, so that such a one comes out of a tensor.
fn again(b: &mut Rewriter<'_>, inst: &Inst) -> Result<Value> {
    let args = b.values(&inst.args)?;
    let own = b.emit(inst.op.clone(), &args)?;
    if b.ty(own).rank() > 0 || !is_constant(inst) {
        return Ok(own);
    }
    let one = b.broadcast_in_dim(own, &[], [1])?;
    b.reshape(one, [])
}

/// The instruction that computes a replacement, where that is a constant, or a whole number before a reader of the parameter that it
/// replaces.
fn early<'f>(entry: &'f Function, result: &FuncResult) -> Option<&'f Inst> {
    let ResultRole::State(of) = &result.role else { return None };
    let (inst, ty) = (entry.def(result.value)?, entry.ty(result.value));
    if is_constant(inst) {
        return Some(inst);
    }
    if ty.rank() > 0 || ty.dtype().is_float() || inst.results.len() > 1 || inst.call().is_some() {
        return None;
    }
    let param = entry.params.iter().find(|param| param.name == *of)?.value;
    let after = entry.insts.iter().skip_while(|inst| !inst.results.contains(&result.value)).skip(1);
    after.flat_map(|inst| &inst.args).any(|&arg| arg == param).then_some(inst)
}

fn is_constant(inst: &Inst) -> bool {
    matches!(inst.op, Op::Constant(_))
}
