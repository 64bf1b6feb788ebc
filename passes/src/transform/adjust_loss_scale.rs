//! `adjust-loss-scale`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::loss_scale::{dynamic, replace};
use crate::transform::trained::unprepared;
use halite_ir::ops::Direction;
use halite_ir::{Builder, LOSS_SCALE, LocKind, Module, Phase, ResultRole, StepPart, Value};
use halite_recipe::{DynamicLossScale, LossScale};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "adjust-loss-scale";

/// Halves a dynamic scale of the loss where the gradients are not finite, and doubles it after `interval` updates in a row whose
/// are. The scale that this update used is the metric `loss_scale`.
///
/// ```text
/// (.., finite: pred[] {finite})
/// =>
/// (.., scaler: f32[] {state = "scaler"}, scaler_steps: s32[] {state = "scaler_steps"}, loss_scale: f32[] {metric})
/// ```
#[derive(Debug)]
pub(crate) struct AdjustLossScale;

impl Pass for AdjustLossScale {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "halve the scale of the loss on overflow, double it after a while", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .example(golden!("adjust_loss_scale" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let LossScale::Dynamic(rule) = cx.recipe(PASS)?.scale_of_loss() else { return Ok(Changed::No) };
        let (mut b, results) = Builder::on_entry(module, cx.registry)?;
        let state = dynamic(&mut b, &results, rule)?;
        let finite = results.iter().find(|result| result.role == ResultRole::Finite);
        let finite = finite.ok_or_else(|| unprepared(PASS, "nothing says whether gradients are finite", "finite"))?;
        let finite = finite.value;
        let outer = b.enter(LocKind::Part(StepPart::Update));
        // The step may not return a buffer that it replaces, nor read it once it is replaced.
        let used = b.abs(state[0])?;
        let next = adjusted(&mut b, rule, state, finite)?;
        b.set_loc(outer);
        b.results(results);
        replace(&mut b, next);
        b.named_result(used, LOSS_SCALE, ResultRole::Metric);
        b.finish();
        Ok(Changed::Yes)
    }
}

/// The next scale, and the updates since it was set.
fn adjusted(
    b: &mut Builder<'_>,
    DynamicLossScale { interval, min, .. }: DynamicLossScale,
    [scale, steps]: [Value; 2],
    finite: Value,
) -> Result<[Value; 2]> {
    let steps = b.add_scalar(steps, 1.0)?;
    let interval = b.splat_like(steps, f64::from(interval))?;
    let is_due = b.compare(steps, interval, Direction::Ge)?;
    let most = b.splat_like(scale, f64::from(LossScale::MAX))?;
    let doubled = b.multiply_scalar(scale, 2.0)?;
    let doubled = b.minimum(doubled, most)?;
    let least = b.splat_like(scale, f64::from(min))?;
    let halved = b.multiply_scalar(scale, 0.5)?;
    let halved = b.maximum(halved, least)?;
    let grown = b.select(is_due, doubled, scale)?;
    let zero = b.splat_like(steps, 0.0)?;
    let counted = b.select(is_due, zero, steps)?;
    Ok([b.select(finite, grown, halved)?, b.select(finite, counted, zero)?])
}
