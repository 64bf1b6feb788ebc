//! The trait.

use crate::PolicyNeed;
use crate::check::ModuleCheck;
use crate::settings::RunSettings;
use halite_bundle::estimate::{Estimate, Fit, MemoryKind};
use halite_bundle::{Manifest, ModuleRole};
use halite_estimate::Analysis;
use halite_hlo::graph::Graph;
use halite_ir::LowerOptions;
use halite_passes::{DialectEntry, RankSource};
use halite_recipe::{Calls, Form, Recipe, Section, TargetName};
use halite_support::{Diagnostic, Diagnostics, Result, SourceMap};
use std::fmt;

/// What programs are compiled for, in one or several variants that share tables, rules and a table of the recipe.
///
/// Every method but the first two has a default: that of a target which takes whatever sound HLO there is. Recipes that are
/// handed in name one of the variants.
pub trait Target: fmt::Debug + Send + Sync {
    /// The variants, each by the name that recipes and the command line know it by.
    fn variants(&self) -> Vec<Variant>;

    /// What a module needs on one core of a variant, with what its parameters hold. The flags are those of the target's compiler.
    ///
    /// # Errors
    /// When the module is malformed.
    fn analyze(
        &self,
        hlo: &Graph,
        variant: &TargetName,
        flags: &[String],
        arguments: &[MemoryKind],
    ) -> Result<Analysis>;

    /// How what a module needs compares with what a core of a variant has, programs being compiled with these flags; `None` where that is
    /// not known.
    fn fit(&self, _estimate: &Estimate, _variant: &TargetName, _flags: &[String]) -> Option<Fit> {
        None
    }

    /// Its table of the recipe.
    fn section(&self) -> Option<&'static Section> {
        None
    }

    /// The kernels that it offers in the place of ops, each for the variants that have it.
    fn kernels(&self) -> Vec<DialectEntry> {
        Vec::new()
    }

    /// Whether stochastic rounding that a recipe does by `switch` is done by a switch of its runtime; dither emulates it
    /// otherwise.
    fn rounds_by_switch(&self) -> bool {
        false
    }

    /// Whether parameters that nothing reads are left out of programs.
    fn drops_unread_inputs(&self) -> bool {
        false
    }

    /// Whether its hardware divides whole numbers inexactly, but by powers of two.
    fn divides_inexactly(&self) -> bool {
        false
    }

    /// How ranks that run a program together know their numbers; `None` where programs are those of one rank.
    fn ranks(&self) -> Option<RankSource> {
        None
    }

    /// How many floating-point operations of matrix products a rank does in a second at most, with operands as the recipe has them, as
    /// its documents say; `None` where they do not.
    fn peak_flops(&self, _recipe: &Recipe) -> Option<u64> {
        None
    }

    /// How many bytes of whole tensors one collective is to have at most where several are made at once; `None` where each is made by itself.
    fn bucket_bytes(&self, _recipe: &Recipe) -> Option<u64> {
        None
    }

    /// How HLO is written for it; what the recipe leaves open as the options have it.
    fn forms(&self, _recipe: &Recipe, options: LowerOptions) -> LowerOptions {
        options
    }

    /// How micro-batches are accumulated where the recipe does not say.
    fn accumulate_form(&self) -> Form {
        Form::One
    }

    /// What becomes of calls of the model's functions where the recipe does not say.
    fn calls(&self) -> Calls {
        Calls::Inline
    }

    /// Whether it takes a recipe at all; asked before anything is compiled.
    ///
    /// # Errors
    /// Why not, with the key of the recipe.
    fn check_recipe(&self, _recipe: &Recipe) -> Result<()> {
        Ok(())
    }

    /// What deserves a look in a recipe, each with its key.
    fn warnings(&self, _recipe: &Recipe) -> Diagnostics {
        Diagnostics::new()
    }

    /// Holds a module to its rules.
    fn check_module(&self, _hlo: &Graph, _recipe: &Recipe, _sources: &SourceMap) -> ModuleCheck {
        ModuleCheck::default()
    }

    /// What it says of all modules of a bundle beside what it found in each.
    fn check_bundle(&self, _recipe: &Recipe, _checks: &[(&ModuleRole, &ModuleCheck)]) -> Diagnostics {
        Diagnostics::new()
    }

    /// Whether bundles hold what their modules need, and how that compares with what there is.
    fn has_estimates(&self) -> bool {
        false
    }

    /// A warning where a bundle does not fit, with what to change. `policies` are what modules would need that compute more again.
    fn advice(&self, _manifest: &Manifest, _policies: &[PolicyNeed]) -> Option<Diagnostic> {
        None
    }

    /// What surrounds the processes of a program.
    fn settings(&self, _recipe: &Recipe) -> RunSettings {
        RunSettings::default()
    }

    /// Whether a manifest holds the [`settings`](Self::settings) of its recipe.
    ///
    /// # Errors
    /// The first thing that is another.
    fn check_manifest(&self, manifest: &Manifest) -> Result<()> {
        self.settings(&manifest.recipe).check(manifest)
    }
}

/// A variant of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The name that recipes and the command line know it by.
    pub name: String,
    /// One line for people.
    pub summary: String,
}

impl Variant {
    /// A variant of this name.
    pub fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), summary: summary.into() }
    }
}
