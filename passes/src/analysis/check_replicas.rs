//! `check-replicas`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, MadeBy, Milestone, Pass, PassCx, PassInfo, Relation};
use halite_analysis::{Moves, ReplicaFinding, replicas, unlike_ranks};
use halite_ir::{Module, Phase};
use halite_support::{Result, check_cancelled};

/// Proves that ranks hold the values that the layout of a module states, that no sum over ranks is missing and that none is made twice;
/// see [`replicas`]. The module stays as it is. The pass stands right after `partition`: passes that simplify a program drop transposes
/// of dimensions that have size 1 on each rank, and it takes a program without them for wrong ([`Moves`]).
///
/// A finding is wrong where inputs show it, and otherwise not followed. A module of a size that the interpreter runs is tried at once.
/// For one that the compiler made, the findings of the run say what is not proven, and whoever compiles can try a smaller one beside
/// that of one device.
#[derive(Debug)]
pub(crate) struct CheckReplicas;

impl Pass for CheckReplicas {
    fn info(&self) -> PassInfo {
        PassInfo::new("check-replicas", "prove that ranks hold what the layout says", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Legal)
            .milestone(Milestone::RanksAreChecked)
            .example(golden!("check_replicas_twice" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let findings = replicas(module, Moves::Written);
        check_cancelled()?;
        let Some(finding) = findings.first() else { return Ok(Changed::No) };
        match unlike_ranks(module, cx.registry, &findings) {
            Some(witness) if cx.made_by == MadeBy::Compiler => {
                Err(finding.wrong(&witness).into_bug("`check-replicas`"))
            }
            Some(witness) => Err(finding.wrong(&witness)),
            None => {
                // The first of a run.
                if let Some(kept) = cx.findings.filter(|kept| kept.report::<ReplicaFinding>().is_none()) {
                    kept.keep(finding.clone());
                }
                Ok(Changed::No)
            }
        }
    }
}
