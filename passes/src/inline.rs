//! `inline`.

use crate::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Function, InferCx, Module, Op, rewrite_planned};
use halite_support::Result;

/// Replaces every call in every function by the body of its callee and drops what is no longer reached, so that the entry
/// and the twins of its kernels are the only functions left. Callees come before callers, so each body is already free of
/// calls.
///
/// ```text
/// func @f(%x: f32[4]) -> (f32[4]) {
///   %y = negate %x : f32[4]
///   return %y
/// }                                                =>    func @main(%x: f32[4]) -> (f32[4]) {
/// func @main(%x: f32[4]) -> (f32[4]) {                     %y = negate %x : f32[4]
///   %0 = call %x {callee = @f} : f32[4]                    return %y
///   return %0                                            }
/// }
/// ```
#[derive(Debug)]
pub(crate) struct Inline;

impl Pass for Inline {
    fn info(&self) -> PassInfo {
        PassInfo::new("inline", "replace calls by the bodies of their callees", Relation::Identical).required()
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let plan = |_: InferCx<'_>, function: &Function| {
            function.insts.iter().any(|inst| matches!(inst.op, Op::Call(_))).then_some(())
        };
        let inlined = rewrite_planned(module, cx.registry, plan, |rewriter, source, ()| {
            for inst in &source.insts {
                let Op::Call(call) = &inst.op else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                let args = rewriter.values(&inst.args)?;
                let callee = rewriter.module().function(call.callee).clone();
                let results = rewriter.copy_body(&callee, &args, |b, inner, args| {
                    let outer = b.enter_call(inner.loc, inst.loc);
                    let results = b.emit_like(inner, args);
                    b.set_loc(outer);
                    results
                })?;
                rewriter.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(Changed::when(inlined | module.drop_unreached()))
    }
}
