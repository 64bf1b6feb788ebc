//! The target.

use crate::machine::machines;
use crate::memory::{compared, logical_core, of_hlo};
use crate::{Generation, Neuron, SECTION, Tables, advice, findings, forms, kernels, settings};
use halite_bundle::estimate::{Estimate, Fit, MemoryKind};
use halite_bundle::{Manifest, ModuleRole};
use halite_hlo::graph::Graph;
use halite_ir::LowerOptions;
use halite_passes::{DialectEntry, RankSource};
use halite_recipe::{Calls, Form, Recipe, Section, TargetName};
use halite_support::{Diagnostic, Diagnostics, Result, SourceMap};
use halite_target::estimate::Analysis;
use halite_target::estimate::time::Machine;
use halite_target::{ModuleCheck, PolicyNeed, RunSettings, Target, Variant};

/// Programs that `neuronx-cc` compiles, a variant for each generation of the hardware.
#[derive(Clone, Copy, Debug, Default)]
pub struct NeuronTarget;

/// The generation of a name; a bug for a name of another target.
fn named(name: &TargetName) -> Result<Generation> {
    Generation::named(name).ok_or_else(|| Diagnostic::bug(format!("`{name}` is no generation of Neuron")))
}

impl Target for NeuronTarget {
    fn variants(&self) -> Vec<Variant> {
        Generation::ALL.into_iter().map(|generation| Variant::new(generation.name(), generation.summary())).collect()
    }

    fn analyze(
        &self,
        hlo: &Graph,
        variant: &TargetName,
        flags: &[String],
        arguments: &[MemoryKind],
    ) -> Result<Analysis> {
        let generation = named(variant)?;
        of_hlo(hlo, generation, flags, arguments)
    }

    fn fit(&self, estimate: &Estimate, variant: &TargetName, flags: &[String]) -> Option<Fit> {
        let generation = Generation::named(variant)?;
        compared(estimate, generation, flags)
    }

    fn section(&self) -> Option<&'static Section> {
        Some(&SECTION)
    }

    fn kernels(&self) -> Vec<DialectEntry> {
        kernels::entries()
    }

    fn rounds_by_switch(&self) -> bool {
        true
    }

    fn drops_unread_inputs(&self) -> bool {
        true
    }

    /// Seen with SDK 2.32 on trn1: what goes through a reciprocal in `f32` was one less than right. Rule `integer-division`.
    fn divides_inexactly(&self) -> bool {
        true
    }

    /// No public source has `replica-id` taken by `neuronx-cc`; NxD hands the rank in as a tensor for want of it.
    fn ranks(&self) -> Option<RankSource> {
        Some(RankSource::Input)
    }

    fn peak_flops(&self, recipe: &Recipe) -> Option<u64> {
        let generation = Generation::of(recipe)?;
        let operand = recipe.precision.operand.to_string();
        let peak = Tables::builtin().hardware(generation)?.peaks.iter().find(|peak| peak.dtype == operand)?;
        let cores = logical_core(generation, &settings::flags(recipe));
        Some(peak.flops as u64 * u64::from(cores))
    }

    fn machines(&self, variant: &TargetName, flags: &[String]) -> Vec<Machine> {
        Generation::named(variant).map(|generation| machines(generation, flags)).unwrap_or_default()
    }

    /// The size that NxD keeps its buckets below.
    fn bucket_bytes(&self, recipe: &Recipe) -> Option<u64> {
        Some(Tables::builtin().limits(Generation::of(recipe)?)?.gathered_bytes)
    }

    fn forms(&self, recipe: &Recipe, options: LowerOptions) -> LowerOptions {
        Generation::of(recipe).map_or(options, |generation| forms::forms(recipe, generation, options))
    }

    fn calls(&self) -> Calls {
        forms::CALLS
    }

    /// Two modules: no public source says whether `neuronx-cc` keeps a call or writes it out at each place.
    fn accumulate_form(&self) -> Form {
        Form::Two
    }

    fn check_recipe(&self, recipe: &Recipe) -> Result<()> {
        Neuron::read(recipe)?;
        forms::check_precision(recipe, named(&recipe.target)?)
    }

    fn warnings(&self, recipe: &Recipe) -> Diagnostics {
        let forms = forms::check_compiler_version(recipe).into_iter().chain(forms::check_tokens(recipe));
        settings::warnings(recipe).into_iter().chain(forms).collect()
    }

    fn check_module(&self, hlo: &Graph, recipe: &Recipe, sources: &SourceMap) -> ModuleCheck {
        Generation::of(recipe)
            .map_or_else(ModuleCheck::default, |generation| findings::of_module(hlo, recipe, generation, sources))
    }

    fn check_bundle(&self, recipe: &Recipe, checks: &[(&ModuleRole, &ModuleCheck)]) -> Diagnostics {
        Generation::of(recipe)
            .map_or_else(Diagnostics::new, |generation| findings::of_bundle(recipe, generation, checks))
    }

    fn has_estimates(&self) -> bool {
        true
    }

    fn advice(&self, manifest: &Manifest, policies: &[PolicyNeed]) -> Option<Diagnostic> {
        advice::warning(manifest, policies)
    }

    fn settings(&self, recipe: &Recipe) -> RunSettings {
        settings::of(recipe)
    }

    fn check_manifest(&self, manifest: &Manifest) -> Result<()> {
        settings::check_manifest(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tiny;

    #[test]
    fn the_peak_is_that_of_the_operands_on_a_logical_core() {
        let peak = |settings: &[&str]| NeuronTarget.peak_flops(&tiny(settings));
        assert_eq!(peak(&["precision=mixed"]), Some(95_000_000_000_000));
        assert_eq!(peak(&["precision=fp32"]), Some(23_750_000_000_000));
        // A logical core joins two physical ones, unless a flag says otherwise.
        assert_eq!(peak(&["precision=mixed", "target=trn2"]), Some(158_000_000_000_000));
        let alone = ["precision=mixed", "target=trn2", "neuron.flags=[\"--logical-nc-config=1\"]"];
        assert_eq!(peak(&alone), Some(79_000_000_000_000));
        // No document has that of `f16` on this one.
        assert_eq!(peak(&["precision=mixed", "precision.operand=f16", "target=trn3"]), None);
    }
}
