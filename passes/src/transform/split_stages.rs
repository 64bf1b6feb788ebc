//! `split-stages`.

mod owners;
mod programs;
mod stage;
mod terms;
mod write;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::composites::Transfer;
use halite_ir::{Module, Phase};
use halite_support::Result;
use owners::Owners;
pub(in crate::transform) use owners::owners;
pub use programs::{StageProgram, stage_programs};
use stage::stages;
pub(in crate::transform) use stage::{Half, Set, halves, inputs};
pub(in crate::transform) use terms::{Term, terms};
pub(in crate::transform) use write::{Args, Given, Writer, Written, name_of};

/// The name of the pass.
const PASS: &str = "split-stages";

/// Makes two functions of each part of a model that `place-stages` cut: a forward and a backward. The entry calls the forwards in order, then
/// the backwards in the opposite order; transfers are gone.
///
/// A forward returns what the next part reads, the loss where it is made, and as residuals what the backward of its part reads. A
/// backward returns the gradient by what the part was given, and those by weights. What follows from the batch or from weights alone is made
/// again where it is read. What joins gradients of several parts, as of a weight that two parts read, stays in the entry.
///
/// ```text
/// %x = call %ids, %u {callee = @first}          %x, %r = call %ids, %u {callee = @part_0_forward}
/// %1 = transfer %x {from = 0, to = 1}       =>  %loss, %s = call %x, %w {callee = @part_1_forward}
/// %loss = call %1, %w {callee = @second}        %dx, %dw = call %s, %w {callee = @part_1_backward}
/// ..                                            %du = call %r, %u, %dx {callee = @part_0_backward}
/// ```
#[derive(Debug)]
pub(crate) struct SplitStages;

impl Pass for SplitStages {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make functions of the parts of a pipeline", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Step)
            .example(golden!("split_stages" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let is_cut = |module: &Module| {
            let mut insts = module.entry().into_iter().flat_map(|entry| &entry.insts);
            insts.any(|inst| Transfer::ends(&inst.op).is_some())
        };
        if !is_cut(module) {
            return Ok(Changed::No);
        }
        let entry = module.take_entry()?;
        let owners = Owners::of(&entry)?;
        let stages = stages(&entry, &owners);
        write::write(module, cx.registry, &entry, (&owners, &stages))?;
        Ok(Changed::Yes)
    }
}
