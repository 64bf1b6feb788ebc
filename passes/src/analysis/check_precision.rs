//! `check-precision`.

use crate::analysis::audit::{Audit, audit};
use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_support::Result;

/// Audits the precision of a module, which it leaves as it is; see [`audit`].
///
/// The findings go to those of the run. In a pipeline it stands where composites are still there to be named, and at the end: a narrow
/// type that only the second one finds is the fault of a pass between the two.
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
            findings.keep(joined(findings.report(), found)?);
        }
        Ok(Changed::No)
    }
}

/// The first audit of a run. Later ones may find less, because later modules show less, but not more; except for sums over ranks,
/// which nobody has made before, in the type that the recipe states for them.
///
/// # Errors
/// A bug: the first finding that the first audit did not have.
fn joined(first: Option<Audit>, later: Audit) -> Result<Audit> {
    let Some(mut first) = first else { return Ok(later) };
    if let Some(new) = later.beyond(&first) {
        return Err(new.clone().into_bug("`check-precision`: a pass before it narrows numbers"));
    }
    first.add_stated_reduces(later);
    Ok(first)
}
