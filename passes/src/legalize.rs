//! `legalize`.

use crate::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::Result;

/// Moves a module to phase `legal` for CPU XLA, which takes every primitive and element type of the IR. What the phase
/// forbids (composites, calls, reads of a donated buffer after its replacement) is refused by the verification that
/// follows.
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
        module.phase = Phase::Legal;
        Ok(Changed::Yes)
    }
}
