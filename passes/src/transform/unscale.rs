//! `unscale`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::loss_scale::factor;
use halite_ir::{Builder, FuncResult, LocKind, Module, Phase, ResultRole, StepPart, engine};
use halite_optim::scaled;
use halite_recipe::LossScale;
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "unscale";

/// Divides objective and gradients by the factor that [`scale-loss`](super::scale_loss) multiplied the objective by, in `f32` at
/// least: what they are in `f16` is within its range, what they become need not be. It is a power of two, so that products with its
/// reciprocal are exact.
///
/// ```text
/// (loss: f32[] {loss}, .., w: f16[4] {gradient = "w"})  =>  (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"})
/// ```
#[derive(Debug)]
pub(crate) struct Unscale;

impl Pass for Unscale {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "divide objective and gradients by the scale of the loss", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .example(golden!("unscale" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let scale = cx.recipe(PASS)?.scale_of_loss();
        if scale == LossScale::NONE {
            return Ok(Changed::No);
        }
        let (mut b, mut results) = Builder::on_entry(module, cx.registry)?;
        let factor = factor(&mut b, &results, scale)?;
        let outer = b.enter(LocKind::Part(StepPart::Update));
        let one = b.splat_like(factor, 1.0)?;
        let reciprocal = b.divide(one, factor)?;
        for result in results.iter_mut().filter(|result| is_scaled(result)) {
            let dtype = engine(b.dtype(result.value));
            let wide = b.convert(result.value, dtype)?;
            result.value = scaled(&mut b, wide, reciprocal)?;
        }
        b.set_loc(outer);
        b.results(results);
        b.finish();
        Ok(Changed::Yes)
    }
}

fn is_scaled(result: &FuncResult) -> bool {
    matches!(result.role, ResultRole::Loss | ResultRole::Gradient(_))
}
