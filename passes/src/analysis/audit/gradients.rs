//! The gradients that the backward part hands over.

use super::context::AuditCx;
use super::fix::RecipeKey;
use super::report::{Evidence, Report};
use halite_ir::{Follows, Inst, Op, Phase, ResultRole, Value};
use halite_support::codes;

/// Reports narrow gradients where they leave: results with that role or, in a training step, what instructions of the
/// optimizer read of those of the model. The objective is another finding. In `legal` the boundary is gone: what the
/// optimizer and the model convert alike is shared, and a widening before a narrowing is removed.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    for result in &cx.entry.results {
        if matches!(result.role, ResultRole::Gradient(_)) {
            check_value(cx, result.value, report);
        }
    }
    if cx.module.phase == Phase::Legal {
        return;
    }
    let mut seen = vec![false; cx.entry.values.len()];
    for inst in cx.entry.insts.iter().filter(|inst| cx.is_of_optimizer(inst.loc)) {
        for &arg in &inst.args {
            let known = std::mem::replace(&mut seen[arg.index()], true);
            if !known && is_gradient(cx, arg) {
                check_value(cx, arg, report);
            }
        }
    }
}

fn check_value(cx: &AuditCx<'_>, value: Value, report: &mut Report<'_>) {
    let (Some(maker), dtype) = (maker(cx, value), cx.dtype(value)) else { return };
    // Sums of gradients are reported as such.
    let is_sum = maker.op.def().policy(&cx.infer).accumulate == Some(Follows::Gradient);
    if dtype.is_narrow() && !is_sum {
        let evidence = Evidence {
            code: codes::GRADIENT_NARROW,
            loc: maker.loc,
            what: maker.op.name(),
            op: maker.op.name(),
            dtype,
        };
        report.add(evidence, RecipeKey::GRADIENT, []);
    }
}

/// The instruction that made a value, before it was rounded to its type; none for a parameter.
fn maker<'a>(cx: &AuditCx<'a>, value: Value) -> Option<&'a Inst> {
    let def = cx.entry.def(value)?;
    if matches!(def.op, Op::Convert(_)) { maker(cx, def.args[0]) } else { Some(def) }
}

/// Whether a value that the optimizer reads is made by the model from its parameters.
fn is_gradient(cx: &AuditCx<'_>, value: Value) -> bool {
    cx.objective(value).is_none() && cx.entry.def(value).is_some_and(|def| !cx.is_of_optimizer(def.loc))
}
