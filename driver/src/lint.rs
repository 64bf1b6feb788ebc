//! Lints of a model, whatever it is compiled to.

use crate::compile::locate;
use crate::session::Session;
use crate::source::Source;
use halite_analysis::{ResidualStream, check_init};
use halite_passes::{PipelineSpec, Runner, RunnerOptions, check_unused};
use halite_recipe::{Calls, Waiver};
use halite_support::{Diagnostics, codes};

/// The lints of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Lints {
    /// The scale of its residual streams at the first step.
    pub streams: Vec<ResidualStream>,
    /// The findings that are not waived, as warnings.
    pub findings: Diagnostics,
}

impl Session {
    /// Checks the initial values of a recipe's model, and finds parts of the model that have no effect.
    ///
    /// # Errors
    /// Every mistake found in the model, an objective that cannot be differentiated, or settings of the optimizer that do not fit the
    /// weights.
    pub fn lint(&self, source: &Source) -> Result<Lints, Diagnostics> {
        let mut built = self.elaborate(source)?.module;
        let mut check = || {
            let flat = self.passes.pipeline(&PipelineSpec::from(["bind-recipe", "inline"]))?;
            let mut cx = self.pass_cx(Some(&source.recipe), None)?;
            cx.target.calls = Calls::Inline;
            Runner::new(RunnerOptions::default()).run(&flat, &mut built, &cx)?;
            let init = check_init(&built, &self.registry)?;
            let mut findings = init.findings;
            findings.extend(check_unused(&built, &self.registry)?);
            Ok(Lints { streams: init.streams, findings })
        };
        let mut lints: Lints = check().map_err(|error| locate(source, error))?;
        let waived: Vec<_> = source.recipe.check.waive.iter().map(|waiver| code(*waiver)).collect();
        lints.findings.retain(|finding| !waived.contains(&finding.code()));
        Ok(lints)
    }
}

/// The findings that a waiver is about.
fn code(waiver: Waiver) -> halite_support::Code {
    match waiver {
        Waiver::ResidualInit => codes::RESIDUAL_INIT,
        Waiver::Frozen => codes::FROZEN,
        Waiver::Unread => codes::UNREAD,
        Waiver::Causality => codes::CAUSALITY,
    }
}
