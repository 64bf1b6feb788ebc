//! The gradients that the backward part hands over.

use super::mend::RecipeKey;
use super::report::{Evidence, Report};
use super::scene::Scene;
use halite_ir::{Follows, Inst, Op, Phase, ResultRole, Value};
use halite_support::codes;

/// Reports narrow gradients where they leave: results with that role or, in a training step, what instructions of the
/// optimizer read of those of the model. The objective is another finding. In `legal` the boundary is gone: what the
/// optimizer and the model convert alike is shared, and a widening before a narrowing is removed.
pub(super) fn check(scene: &Scene<'_>, report: &mut Report<'_>) {
    for result in &scene.entry.results {
        if matches!(result.role, ResultRole::Gradient(_)) {
            check_value(scene, result.value, report);
        }
    }
    if scene.module.phase == Phase::Legal {
        return;
    }
    let mut seen = vec![false; scene.entry.values.len()];
    for inst in scene.entry.insts.iter().filter(|inst| scene.is_of_optimizer(inst.loc)) {
        for &arg in &inst.args {
            let known = std::mem::replace(&mut seen[arg.index()], true);
            if !known && is_gradient(scene, arg) {
                check_value(scene, arg, report);
            }
        }
    }
}

fn check_value(scene: &Scene<'_>, value: Value, report: &mut Report<'_>) {
    let (Some(maker), dtype) = (maker(scene, value), scene.dtype(value)) else { return };
    // Sums of gradients are reported as such.
    let is_sum = maker.op.def().policy(&scene.infer).accumulate == Some(Follows::Gradient);
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
fn maker<'a>(scene: &Scene<'a>, value: Value) -> Option<&'a Inst> {
    let def = scene.entry.def(value)?;
    if matches!(def.op, Op::Convert(_)) { maker(scene, def.args[0]) } else { Some(def) }
}

/// Whether a value that the optimizer reads is made by the model from its parameters.
fn is_gradient(scene: &Scene<'_>, value: Value) -> bool {
    scene.objective(value).is_none() && scene.entry.def(value).is_some_and(|def| !scene.is_of_optimizer(def.loc))
}
