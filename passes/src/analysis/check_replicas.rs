//! `check-replicas`.

use crate::analysis::replicas::{Moves, ReplicaFinding, replicas};
use crate::framework::pass::{Changed, MadeBy, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::{Result, check_cancelled};

/// Proves that ranks hold what the layout of a module says, that no sum over ranks is missing and that none is made twice; see [`replicas`].
/// The module stays as it is. It stands right after `partition`: what simplifies a program drops transposes of dimensions that have size 1 on
/// each rank, and takes a program without them for wrong ([`Moves`]).
///
/// What is found in a module that the compiler made is a fault of the pass that laid it out or of one since; in one made by hand it is a
/// mistake of its author ([`MadeBy`]).
#[derive(Debug)]
pub(crate) struct CheckReplicas;

impl Pass for CheckReplicas {
    fn info(&self) -> PassInfo {
        PassInfo::new("check-replicas", "prove that ranks hold what the layout says", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Legal)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let findings = replicas(module, Moves::Written);
        check_cancelled()?;
        match findings.first().map(ReplicaFinding::diagnostic) {
            Some(finding) if cx.made_by == MadeBy::Compiler => Err(finding.into_bug("`check-replicas`")),
            Some(finding) => Err(finding),
            None => Ok(Changed::No),
        }
    }
}
