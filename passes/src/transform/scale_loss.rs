//! `scale-loss`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::loss_scale::factor;
use crate::transform::trained::find;
use halite_ir::{Builder, Module, Phase, ResultRole};
use halite_recipe::LossScale;
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "scale-loss";

/// The scope of what scales.
const SCOPE: &str = "loss_scale";

/// Multiplies the objective, where the recipe has it scaled, so that gradients made of it stay within the range of `f16`;
/// [`unscale`](super::unscale) divides by the factor again. A dynamic one is state.
///
/// ```text
/// func @main(..) -> (loss: f32[] {loss}, ..)
/// =>
/// func @main(.., %scaler: f32[] {state = scaler, init = constant(4096.0)}) -> (loss: f32[] {loss}, ..) {
///   ..
///   %0 = multiply %loss, %loss_scale : f32[]
///   return %0, ..
/// ```
#[derive(Debug)]
pub(crate) struct ScaleLoss;

impl Pass for ScaleLoss {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "scale the objective, so that gradients fit into f16", Relation::Defines)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("scale_loss" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let scale = cx.recipe(PASS)?.scale_of_loss();
        if scale == LossScale::NONE {
            return Ok(Changed::No);
        }
        let (mut b, mut results) = Builder::on_entry(module, cx.registry)?;
        let factor = factor(&mut b, &results, scale)?;
        let outer = b.enter_scope(SCOPE);
        let loss = find(&b, &results, ResultRole::Loss)?;
        let dtype = b.dtype(factor);
        let loss = b.convert(loss, dtype)?;
        let scaled = b.multiply(loss, factor)?;
        b.set_loc(outer);
        results.iter_mut().filter(|result| result.role == ResultRole::Loss).for_each(|result| result.value = scaled);
        b.results(results);
        b.finish();
        Ok(Changed::Yes)
    }
}
