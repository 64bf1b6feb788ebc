//! Instructions that follow from constants alone, and equal ones.

use halite_ir::{Function, InferCx, Inst, Op, Rewriter, Rounding, Values};
use halite_support::Result;
use rustc_hash::FxHashMap;

/// For each value of a function, whether it follows from constants alone.
pub(crate) fn closed(cx: InferCx<'_>, function: &Function) -> Vec<bool> {
    let mut closed = vec![false; function.values.len()];
    for inst in &function.insts {
        if inst.args.iter().all(|arg| closed[arg.index()]) && inst.op.def().effect(&cx).movable {
            inst.results.iter().for_each(|result| closed[result.index()] = true);
        }
    }
    closed
}

/// Copies the instructions of a function, each once: first those that follow from constants alone, which layers share, then the rest.
///
/// # Errors
/// A bug when an instruction cannot be copied.
pub(crate) fn copy_once(b: &mut Rewriter<'_>, source: &Function) -> Result<()> {
    let cx = InferCx { functions: &b.module().functions, registry: b.registry() };
    let closed = closed(cx, source);
    let is_closed = |inst: &Inst| inst.results.iter().all(|result| closed[result.index()]);
    let mut written: FxHashMap<(Op, Option<Rounding>, Values), Values> = FxHashMap::default();
    for first in [true, false] {
        for inst in source.insts.iter().filter(|inst| is_closed(inst) == first) {
            let key = (inst.op.clone(), inst.rounding.clone(), b.values(&inst.args)?);
            match written.get(&key) {
                Some(results) => b.replace_all(inst, results),
                None => {
                    b.copy(source, inst)?;
                    let cx = InferCx { functions: &b.module().functions, registry: b.registry() };
                    if inst.op.def().effect(&cx).mergeable {
                        written.insert(key, b.values(&inst.results)?);
                    }
                }
            }
        }
    }
    Ok(())
}
