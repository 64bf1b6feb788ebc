//! `legalize`.

use crate::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Op, Phase};
use halite_support::{Diagnostic, Result, codes};

/// Moves a module to phase `legal` for CPU XLA, which takes every primitive and element type of the IR, and calls.
/// Composites are refused here; reads of a donated buffer after its replacement by the verification that follows.
#[derive(Debug)]
pub(crate) struct Legalize;

impl Pass for Legalize {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "legalize",
            summary: "leave only what the target takes",
            kind: Kind::Required,
            needs: Phase::Built..=Phase::Step,
            gives: Some(Phase::Legal),
            relation: Relation::Identical,
        }
    }

    fn run(&self, module: &mut Module, _: &PassCx<'_>) -> Result<Changed> {
        let mut insts = module.functions.iter().flat_map(|function| &function.insts);
        if let Some(left) = insts.find(|inst| matches!(inst.op, Op::Composite(_))) {
            let message = format!("`legalize` meets `{}`, which has no HLO form", left.op.name());
            return Err(Diagnostic::error(codes::PIPELINE, message)
                .or_at(module.locs.span(left.loc), "still here")
                .help("run `expand-composites` before `legalize`"));
        }
        module.phase = Phase::Legal;
        Ok(Changed::Yes)
    }
}
