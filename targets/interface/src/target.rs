//! The trait that every target implements.

use crate::PolicyNeed;
use crate::check::ModuleCheck;
use crate::settings::RunSettings;
use halite_bundle::estimate::{Estimate, Fit, MemoryKind};
use halite_bundle::{Manifest, ModuleRole};
use halite_estimate::Analysis;
use halite_estimate::time::Machine;
use halite_hlo::graph::Graph;
use halite_ir::LowerOptions;
use halite_passes::{DialectEntry, RankSource};
use halite_recipe::{Calls, Form, Recipe, Section, TargetName};
use halite_support::{Diagnostic, Diagnostics, Result, SourceMap};
use std::fmt;

/// A platform that programs are compiled for, in one or several variants that share tables, rules and a table of the recipe.
///
/// Every method but the first two has a default: that of a target which takes any sound HLO. Recipes that are passed in name one of
/// the variants.
pub trait Target: fmt::Debug + Send + Sync {
    /// The variants, each by the name that recipes and the command line know it by.
    fn variants(&self) -> Vec<Variant>;

    /// Estimates memory and instructions of a module on one core of a variant. `arguments` is the kind of memory of each parameter,
    /// `flags` are those of the target's compiler.
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

    /// Compares an estimate with what a core of a variant has, for programs compiled with these flags; `None` where that is not known.
    fn fit(&self, _estimate: &Estimate, _variant: &TargetName, _flags: &[String]) -> Option<Fit> {
        None
    }

    /// The target's own table of the recipe.
    fn section(&self) -> Option<&'static Section> {
        None
    }

    /// Kernels that the target offers in place of ops, each for the variants that have it.
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

    /// Whether its hardware divides integers inexactly, except by powers of two.
    fn divides_inexactly(&self) -> bool {
        false
    }

    /// The source of the rank number in programs that several ranks run together; `None` where every program is that of one rank.
    fn ranks(&self) -> Option<RankSource> {
        None
    }

    /// Peak FLOP/s of matmuls on one rank with the operand type of the recipe, as the target's documents state it; `None` where they
    /// do not.
    fn peak_flops(&self, _recipe: &Recipe) -> Option<u64> {
        None
    }

    /// The machines that a variant runs on, for the time of programs compiled with these flags: one for each instance that can be rented, the
    /// usual one first. None where their links are not known.
    fn machines(&self, _variant: &TargetName, _flags: &[String]) -> Vec<Machine> {
        Vec::new()
    }

    /// The largest size, in bytes of whole tensors, of a collective that several are combined into; `None` where each stays by itself.
    fn bucket_bytes(&self, _recipe: &Recipe) -> Option<u64> {
        None
    }

    /// The forms in which HLO is written for the target. Those that the recipe leaves open stay as in `options`.
    fn forms(&self, _recipe: &Recipe, options: LowerOptions) -> LowerOptions {
        options
    }

    /// The form in which micro-batches are accumulated where the recipe does not say.
    fn accumulate_form(&self) -> Form {
        Form::One
    }

    /// The treatment of calls of the model's functions where the recipe does not say: kept, left to the compiler, or inlined.
    fn calls(&self) -> Calls {
        Calls::Inline
    }

    /// Checks, before anything is compiled, that the target takes a recipe at all.
    ///
    /// # Errors
    /// The reason why it does not, with the key of the recipe.
    fn check_recipe(&self, _recipe: &Recipe) -> Result<()> {
        Ok(())
    }

    /// Warnings about a recipe, each with its key.
    fn warnings(&self, _recipe: &Recipe) -> Diagnostics {
        Diagnostics::new()
    }

    /// Checks a module against the target's rules.
    fn check_module(&self, _hlo: &Graph, _recipe: &Recipe, _sources: &SourceMap) -> ModuleCheck {
        ModuleCheck::default()
    }

    /// Findings about all modules of a bundle together, beside those about each module.
    fn check_bundle(&self, _recipe: &Recipe, _checks: &[(&ModuleRole, &ModuleCheck)]) -> Diagnostics {
        Diagnostics::new()
    }

    /// Whether bundles hold estimates of what their modules need, and how these compare with what a core has.
    fn has_estimates(&self) -> bool {
        false
    }

    /// A warning where a bundle does not fit, with what to change. `policies` are the needs of modules under policies that recompute
    /// more.
    fn advice(&self, _manifest: &Manifest, _policies: &[PolicyNeed]) -> Option<Diagnostic> {
        None
    }

    /// The settings of the processes that run a program.
    fn settings(&self, _recipe: &Recipe) -> RunSettings {
        RunSettings::default()
    }

    /// Checks that a manifest holds the [`settings`](Self::settings) of its recipe.
    ///
    /// # Errors
    /// The first setting that differs.
    fn check_manifest(&self, manifest: &Manifest) -> Result<()> {
        self.settings(&manifest.recipe).check(manifest)
    }
}

/// A variant of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The name that recipes and the command line know it by.
    pub name: String,
    /// A one-line description for people.
    pub summary: String,
}

impl Variant {
    /// A variant of this name.
    pub fn new(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name: name.into(), summary: summary.into() }
    }
}
