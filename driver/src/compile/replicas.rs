//! The check that ranks hold what the layout says: where it is not proven, a small program on ranks is compared with that of one
//! device.

use super::{CompileOptions, built, for_role};
use crate::roles::Role;
use crate::session::Session;
use crate::source::Source;
use halite_analysis::{ReplicaFinding, ReplicaWitness, unlike_whole};
use halite_ir::Module;
use halite_passes::{Findings, Milestone, PassReport, Pipeline, Runner};
use halite_recipe::PrecisionName;
use halite_support::{Diagnostic, Diagnostics};
use std::fmt;

/// The verdict on whether the ranks of a mesh hold what the layout says.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Replicas {
    /// There is one rank.
    OneRank,
    /// They do.
    Proven,
    /// The analysis does not follow the program well enough to tell, and no input that was tried shows that they do not.
    NotFollowed(ReplicaFinding),
}

impl Replicas {
    /// The verdict on a module that passes have made.
    pub(super) fn of(module: &Module, findings: &Findings) -> Self {
        match findings.report() {
            Some(finding) => Self::NotFollowed(finding),
            None if module.layout.is_some() => Self::Proven,
            None => Self::OneRank,
        }
    }

    /// The warning on a program that the analysis does not follow.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        if let Self::NotFollowed(finding) = self { Some(finding.not_followed()) } else { None }
    }

    /// The verdict on two modules of one bundle.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (own @ Self::NotFollowed(_), _) | (Self::OneRank, own) => own,
            (_, other @ Self::NotFollowed(_)) => other,
            (own, _) => own,
        }
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneRank => f.write_str("not applicable: there is one rank"),
            Self::Proven => f.write_str("proven"),
            Self::NotFollowed(finding) => write!(f, "not followed: {}", finding.message),
        }
    }
}

impl Session {
    /// # Errors
    /// A bug where it is not proven that ranks hold what the layout says, and a small program shows that they do not.
    pub(super) fn judge_replicas(
        &self,
        (role, findings): (&Role, &Findings),
        source: &Source,
        options: &CompileOptions,
    ) -> Result<(), Diagnostic> {
        let Some(finding) = findings.report::<ReplicaFinding>() else { return Ok(()) };
        // A model that cannot be made small is one of which nothing is shown.
        let witness_of = |source: &Source| self.replica_witness(source, role, options).ok().flatten();
        // What a sum leaves out can be less than what narrow types round off, so where they show nothing, `f32` is tried.
        let in_f32 = || {
            let mut exact = source.clone();
            exact.recipe.precision = PrecisionName::Fp32.precision();
            (exact.recipe != source.recipe).then(|| witness_of(&exact)).flatten()
        };
        match witness_of(source).or_else(in_f32) {
            Some(witness) => Err(finding.wrong(&witness).into_bug("`check-replicas`")),
            None => Ok(()),
        }
    }

    /// A witness that ranks compute something else than one device, from the modules of a role: their sizes are scaled down as by
    /// `verify`, and the interpreter tries inputs. `None` where there is no witness, or where the modules are too large to be tried.
    ///
    /// # Errors
    /// When the model does not compile at those sizes.
    fn replica_witness(
        &self,
        source: &Source,
        role: &Role,
        options: &CompileOptions,
    ) -> Result<Option<ReplicaWitness>, Diagnostics> {
        let mut small = source.clone();
        self.scale_down(&mut small)?;
        let elaborated = self.elaborate(&small)?;
        let data = self.data_ranks(&small)?;
        let small = &built::with_batch(small.with_sizes(&elaborated.config), &elaborated.module, data)?;
        let options = &CompileOptions { dumps: None, explain: false, ..options.clone() };
        let (shared, own) = self.passes.pipeline(&role.pipeline)?.split_at_phase();
        let prepared = self.prepare(elaborated.module, (&small.recipe, None), &shared, options)?;
        let mut module = for_role(&prepared.module, role);
        let (before, left) = own.split_before(&[Milestone::Ranks]);
        let (after, _) = left.split_before(&[Milestone::RanksAreChecked]);
        let mut reports = prepared.reports;
        self.pass_on(&before, (&mut module, &mut reports), small, options)?;
        let whole = module.clone();
        self.pass_on(&after, (&mut module, &mut reports), small, options)?;
        Ok(unlike_whole(&whole, &module, &self.registry))
    }

    /// Runs some of the passes of a role.
    fn pass_on(
        &self,
        pipeline: &Pipeline,
        (module, reports): (&mut Module, &mut Vec<PassReport>),
        source: &Source,
        options: &CompileOptions,
    ) -> Result<(), Diagnostic> {
        let findings = Findings::default();
        let cx = self.pass_cx(Some(&source.recipe), Some(&findings))?;
        let mut runner = Runner::new(options.runner.clone()).after(reports);
        runner.run(pipeline, module, &cx)?;
        *reports = runner.reports().to_vec();
        Ok(())
    }
}
