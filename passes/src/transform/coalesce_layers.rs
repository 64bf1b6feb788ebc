//! `coalesce-layers`.

mod apply;
mod bound;
mod name;
mod plan;
mod projection;
mod shares;
mod uses;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "coalesce-layers";

/// The name of the rule in its remarks.
const RULE: &str = "shared-input";

/// Projections of one value become one, and so do their weights: those of queries, keys and values, or of gate and up.
/// Run before `auto-diff`, forward, backward and optimizer then work on what is merged.
///
/// A projection is a `linear`, or a `dot_general` over the last dimension of a value, with a weight of the entry that nothing else
/// reads, or in a function with a parameter that is one at each call; a bias is merged too where every one of them has one. Merged
/// weights agree in element type, initializer, weight decay, group of the optimizer and precision exceptions, in a function at each
/// call; an update rule that looks at a tensor as a whole is given each by itself all the same. The merged weight is `[ranks, rows,
/// in]`, one share for each rank of tensor parallelism, and says what it packs. Where a value has fewer heads than ranks, each rank
/// that reads a head holds it: the first copy is read here, and `tied_copies` gives all copies the same gradient.
///
/// ```text
/// %q = linear %x, %q.w : f32[4,8]      =>    %0 = dot_general %x, %q_k.w {contract = [1] x [2], ..} : f32[4,1,12]
/// %k = linear %x, %k.w : f32[4,4]            %q, %k = unpack %0 {dim = -2, rows = [8, 4], copies = [1, 1]} : f32[4,8], f32[4,4]
/// ```
#[derive(Debug)]
pub(crate) struct CoalesceLayers;

impl Pass for CoalesceLayers {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "merge projections of one value, weights included", Relation::Mapped(0))
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("coalesce_layers/gate_up" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let plans = plan::plans(module, cx)?;
        if plans.iter().all(|plan| plan.packed.is_empty()) {
            return Ok(Changed::No);
        }
        apply::apply(module, cx.registry, &plans)?;
        Ok(Changed::Yes)
    }
}
