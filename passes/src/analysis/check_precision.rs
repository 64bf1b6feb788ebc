//! `check-precision`.

use crate::analysis::audit::audit;
use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::Result;

/// Audits the precision of a module, which it leaves as it is; see [`audit`].
///
/// What it finds goes to the findings of the run. In a pipeline it stands where composites are still there to be named,
/// and at the end: what is narrow then and was not before is the fault of a pass between the two.
#[derive(Debug)]
pub(crate) struct CheckPrecision;

impl Pass for CheckPrecision {
    fn info(&self) -> PassInfo {
        PassInfo::new("check-precision", "look for numbers in fewer bits than training can bear", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Legal)
            .example(golden!("check_precision" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let found = audit(module, cx)?;
        if let Some(findings) = cx.findings {
            findings.add(found).map_err(|new| new.into_bug("`check-precision`: a pass before it narrows numbers"))?;
        }
        Ok(Changed::No)
    }
}
