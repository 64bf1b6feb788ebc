//! `fold-causal-mask`.

mod explain;
mod folded;
mod halves;
mod layout;
mod plan;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{FuncId, Module, Phase, rewrite_planned};
use halite_support::Result;
use plan::Plan;

const NAME: &str = "fold-causal-mask";

/// Replaces every value that is the causal mask, however it is spelled, by the composite `causal_mask`: predicates and
/// their negations, and numbers of two kinds such as scores to add. The fills stay as they are, so that no bit of a result
/// changes. Only the last of the instructions that make a mask is replaced; the others become dead.
///
/// A mask that is an input folds when the model declares it causal. Windows, prefixes, shifted and transposed masks are
/// left alone; of a condition that is causal and more, the causal part folds.
///
/// ```text
/// %query = iota {dim = 2} : s32[2,3,4,4]
/// %key = iota {dim = 3} : s32[2,3,4,4]              =>    %0 = causal_mask {size = 4} : pred[4,4]
/// %seen = compare %key, %query {direction = LE}           %seen = broadcast_in_dim %0 {dims = [2, 3]}
///   : pred[2,3,4,4]                                         : pred[2,3,4,4]
/// ```
#[derive(Debug)]
pub(crate) struct FoldCausalMask;

impl Pass for FoldCausalMask {
    fn info(&self) -> PassInfo {
        PassInfo::new(NAME, "make one symbolic predicate of every causal mask", Relation::Identical)
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("fold_causal_mask/positions" @ "at_most"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut plans = Vec::with_capacity(module.functions.len());
        for id in (0..module.functions.len()).map(FuncId::new) {
            let plan = Plan::of(module, id, cx.registry)?;
            if let Some(plan) = &plan {
                explain::explain(module, id, plan, cx);
            }
            plans.push(plan.filter(Plan::changes_anything));
        }
        let mut plans = plans.into_iter();
        let changed = rewrite_planned(
            module,
            cx.registry,
            |_, _| plans.next().flatten(),
            |rewriter, source, plan| plan.write(rewriter, source),
        )?;
        Ok(Changed::when(changed))
    }
}
