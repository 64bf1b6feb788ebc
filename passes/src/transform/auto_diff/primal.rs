//! The instructions that are differentiated, as the walk backwards finds them.

use super::pairs::Pairs;
use halite_ir::{Builder, Function, Inst, Op, Rewriter, TensorType, Value, Values};
use halite_support::Result;

/// Copies the instructions of `source`, replacing composites that have no gradient of their own, and calls that are
/// differentiated by calls that return residuals too. `calls` says for each instruction which pair that is.
pub(super) fn copy_primal(
    rewriter: &mut Rewriter<'_>,
    source: &Function,
    calls: &[Option<usize>],
    pairs: &Pairs,
) -> Result<()> {
    for (inst, pair) in source.insts.iter().zip(calls) {
        if let Some(pair) = *pair {
            pairs.call_forward(rewriter, source, inst, pair)?;
            continue;
        }
        if has_rule(rewriter, &inst.op)? {
            rewriter.copy(source, inst)?;
            continue;
        }
        let args = rewriter.values(&inst.args)?;
        let outer = rewriter.set_loc(inst.loc);
        let results = emit_primal(rewriter, inst, &args, &result_types(source, inst))?;
        rewriter.set_loc(outer);
        rewriter.replace_all(inst, &results);
    }
    Ok(())
}

/// Whether the op has a gradient rule of its own.
fn has_rule(b: &Builder<'_>, op: &Op) -> Result<bool> {
    match op {
        Op::Composite(composite) => Ok(b.registry().composite(&composite.name)?.vjp().is_some()),
        _ => Ok(true),
    }
}

fn emit_primal(b: &mut Builder<'_>, inst: &Inst, args: &[Value], types: &[TensorType]) -> Result<Values> {
    if has_rule(b, &inst.op)? {
        return b.emit_like(inst, args);
    }
    if inst.rounds_at_random() { b.round_apart(inst, args, types, decompose) } else { decompose(b, &inst.op, args) }
}

/// Writes a composite as ops that have gradient rules of their own.
fn decompose(b: &mut Builder<'_>, op: &Op, args: &[Value]) -> Result<Values> {
    let Op::Composite(composite) = op else { return b.emit_all(op.clone(), args) };
    let types: Vec<_> = args.iter().map(|&arg| b.ty(arg).clone()).collect();
    let body = composite.decompose(b.registry(), &types.iter().collect::<Vec<_>>())?;
    b.copy_body(&body, args, |b, inner, args| emit_primal(b, inner, args, &result_types(&body, inner)))
}

fn result_types(function: &Function, inst: &Inst) -> Vec<TensorType> {
    inst.results.iter().map(|&result| function.ty(result).clone()).collect()
}
