//! The gradients that the backward part hands over.

use super::context::AuditCx;
use super::fix::RecipeKey;
use super::report::{Evidence, Report};
use halite_ir::paths::nested;
use halite_ir::{Follows, Function, Inst, Op, Phase, ResultRole, Value};
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

/// How far a gradient is followed: functions that hand on what they get can be called in any number.
const MAX_STEPS: usize = 4096;

/// The instruction that made a value, before it was rounded to its type.
struct Maker<'a> {
    inst: &'a Inst,
    /// The scope of the calls that it is in.
    scope: String,
}

impl<'a> Maker<'a> {
    /// Follows calls in and, from their parameters, out again; none for a parameter of the function.
    fn of(cx: &AuditCx<'a>, value: Value) -> Option<Self> {
        let (mut function, mut value) = (cx.function, value);
        let mut calls: Vec<(&Function, &Inst)> = Vec::new();
        for _ in 0..MAX_STEPS {
            let Some(inst) = function.def(value) else {
                let position = function.params.iter().position(|param| param.value == value)?;
                let (caller, call) = calls.pop()?;
                (function, value) = (caller, call.args[position]);
                continue;
            };
            match &inst.op {
                Op::Convert(_) => value = inst.args[0],
                Op::Call(_) if cx.is_dither(inst) => value = inst.args[0],
                Op::Call(call) => {
                    let result = inst.results.iter().position(|result| *result == value)?;
                    calls.push((function, inst));
                    function = cx.module.function(call.callee);
                    value = function.results[result].value;
                }
                _ => {
                    let scopes = calls.iter().map(|(_, call)| cx.module.locs.scope(call.loc));
                    return Some(Self {
                        inst,
                        scope: scopes.fold(String::new(), |outer, inner| nested(&outer, inner)),
                    });
                }
            }
        }
        None
    }
}

/// Whether a value that the optimizer reads is made by the model from its parameters.
fn is_gradient(cx: &AuditCx<'_>, value: Value) -> bool {
    cx.objective(value).is_none() && cx.function.def(value).is_some_and(|def| !cx.is_of_optimizer(def.loc))
}
