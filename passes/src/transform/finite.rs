//! `finite`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::trained::{find, grad_norm};
use halite_ir::{Builder, LocKind, Module, Phase, ResultRole, StepPart};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "finite";

/// Says whether the update is to be made, where the recipe has those skipped whose gradients are not finite: loss and norm of the
/// gradient are. A norm that overflows is not finite either, although each gradient may be: clipping by it would make all
/// of them zero.
///
/// ```text
/// (loss: f32[] {loss}, .., grad_norm: f32[] {metric})  =>  (.., finite: pred[] {finite})
/// ```
#[derive(Debug)]
pub(crate) struct Finite;

impl Pass for Finite {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "say whether the gradients are finite, where updates may be skipped", Relation::Extends)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .example(golden!("finite" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        if !cx.recipe(PASS)?.skips_nonfinite() {
            return Ok(Changed::No);
        }
        let (mut b, results) = Builder::on_entry(module, cx.registry)?;
        let outer = b.enter(LocKind::Part(StepPart::Update));
        let (loss, norm) = (find(&b, &results, ResultRole::Loss)?, grad_norm(PASS, &results)?);
        let (loss, norm) = (b.is_finite(loss)?, b.is_finite(norm)?);
        let finite = b.and(loss, norm)?;
        b.set_loc(outer);
        b.results(results);
        b.named_result(finite, "finite", ResultRole::Finite);
        b.finish();
        Ok(Changed::Yes)
    }
}
