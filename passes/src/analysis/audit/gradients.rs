//! The gradients that the backward part hands over.

use super::context::AuditCx;
use super::fix::RecipeKey;
use super::report::{Evidence, Report};
use halite_ir::paths::nested;
use halite_ir::{Follows, Inst, Op, Origin, Phase, ResultRole, Trace, Value};
use halite_support::codes;

/// Reports narrow gradients where they leave: results with that role or, in a training step, what instructions of the
/// optimizer read of those of the model. The objective is another finding. In `legal` the boundary is gone: what the
/// optimizer and the model convert alike is shared, and a widening before a narrowing is removed.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    for result in &cx.function.results {
        if matches!(result.role, ResultRole::Gradient(_)) {
            check_value(cx, result.value, report);
        }
    }
    if cx.module.phase == Phase::Legal {
        return;
    }
    let mut seen = vec![false; cx.function.values.len()];
    for inst in cx.function.insts.iter().filter(|inst| cx.is_of_optimizer(inst.loc)) {
        for &arg in &inst.args {
            let known = std::mem::replace(&mut seen[arg.index()], true);
            if !known && is_gradient(cx, arg) {
                check_value(cx, arg, report);
            }
        }
    }
}

fn check_value(cx: &AuditCx<'_>, value: Value, report: &mut Report<'_>) {
    let (Some(maker), dtype) = (Maker::of(cx, value), cx.dtype(value)) else { return };
    // Sums of gradients are reported as such.
    let op = &maker.inst.op;
    let is_sum = op.def().policy(&cx.infer).accumulate == Some(Follows::Gradient);
    if dtype.is_narrow() && !is_sum {
        let code = codes::GRADIENT_NARROW;
        let evidence = Evidence { code, loc: maker.inst.loc, what: op.name(), op: op.name(), dtype };
        for (scope, times) in report.scopes(cx.id) {
            report.add_in(&nested(&scope, maker.scope.clone()), times, evidence, RecipeKey::GRADIENT, &[]);
        }
    }
}

/// The instruction that made a value, before it was rounded to its type.
struct Maker<'a> {
    inst: &'a Inst,
    /// The scope of the calls that it is in.
    scope: String,
}

impl<'a> Maker<'a> {
    /// Follows calls in and, from their parameters, out again; none for a parameter of the function.
    fn of(cx: &AuditCx<'a>, value: Value) -> Option<Self> {
        let mut trace = Trace::new(&cx.module.functions, cx.function, value);
        loop {
            let Origin::Inst(inst) = trace.origin(|callee| !callee.rounds) else { return None };
            if matches!(inst.op, Op::Convert(_)) || cx.is_dither(inst) {
                trace.step(inst.args[0]);
                continue;
            }
            let scopes = trace.calls().map(|call| cx.module.locs.scope(call.loc));
            return Some(Self { inst, scope: scopes.fold(String::new(), |outer, inner| nested(&outer, inner)) });
        }
    }
}

/// Whether a value that the optimizer reads is made by the model from its parameters.
fn is_gradient(cx: &AuditCx<'_>, value: Value) -> bool {
    cx.objective(value).is_none() && cx.function.def(value).is_some_and(|def| !cx.is_of_optimizer(def.loc))
}
