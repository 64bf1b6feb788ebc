//! `pad-uneven`.

mod apply;
mod plan;
mod reads;
mod wide;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "pad-uneven";

/// The name of the rule in its remarks.
const RULE: &str = "classes";

/// Rows of zeros in the place of those that a vocabulary lacks, so that the ranks of `tensor` share it evenly.
///
/// A weight gets them along a dimension that the recipe shards and its ranks do not divide, where the model counts classes along it:
/// all readers of the weight look up rows, or their results become logits of `cross_entropy`. These are computed for the padding too,
/// and are minus infinity where the loss reads them, so that loss and gradients are what they were and the padding stays zero. Other
/// readers of them have the padding cut off. Run before `auto-diff`, backward and optimizer work on padded values. The weight states in
/// its packing which tensor it stores, so that files have it as the model does.
///
/// ```text
/// %w: f32[7,4] {weight, ..}                 =>  %w.padded: f32[2,4,4] {weight, packs = ["w"[7,4] + 1], ..}
/// %x = embedding %ids, %w : f32[3,4]            %0 = unpack %w.padded {..} : f32[8,4]
///                                               %x = embedding %ids, %0 : f32[3,4]
/// %y = linear %x, %w : f32[3,7]                 %y = linear %x, %0 : f32[3,8]
///                                               %1 = select %is_class, %y, %lowest : f32[3,8]
/// %l, %n = cross_entropy %y, %labels            %l, %n = cross_entropy %1, %labels
/// ```
#[derive(Debug)]
pub(crate) struct PadUneven;

impl Pass for PadUneven {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "pad what ranks do not share evenly", Relation::Mapped(0))
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("pad_uneven/capped" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(recipe) = cx.recipe else { return Ok(Changed::No) };
        let Some(parallel) = &recipe.parallel else { return Ok(Changed::No) };
        // A layout that is not compiled has nothing to share.
        if recipe.ranks(cx.target.ranks.is_some())?.num_ranks() == 1 {
            return Ok(Changed::No);
        }
        let Some(plan) = plan::plan(module, cx.registry, parallel)? else { return Ok(Changed::No) };
        plan.explain(module, cx);
        apply::apply(module, cx.registry, &plan)?;
        Ok(Changed::Yes)
    }
}
