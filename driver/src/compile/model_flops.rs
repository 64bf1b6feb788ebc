//! Model FLOPs: the operations that a model asks for, however often a program computes them.

use super::{CompileOptions, for_role};
use crate::flops::model_flops;
use crate::session::Session;
use halite_bundle::ModuleRole;
use halite_ir::{Module, inline_into_entry};
use halite_passes::{Findings, PipelineSpec, Runner, RunnerOptions, Watch};
use halite_recipe::Recipe;
use halite_support::Result;
use indexmap::IndexSet;

/// The pass that makes backwards.
const BACKWARD: &str = "auto-diff";

impl Session {
    /// Floating-point operations of the products of a model on one micro-batch of all ranks: those of its forward, and of a backward where a
    /// role trains. Nothing is computed again, padded or copied: the model FLOPs of PaLM (arXiv 2204.02311, appendix B), with attention to all
    /// positions.
    ///
    /// # Errors
    /// When a pass fails.
    pub(super) fn model_flops(
        &self,
        built: &Module,
        recipe: &Recipe,
        roles: &IndexSet<ModuleRole>,
        options: &CompileOptions,
    ) -> Result<u128> {
        let _span = tracing::debug_span!("flops", model = &*built.name).entered();
        let known = roles.iter().map(|role| self.roles.get(role)).collect::<Result<Vec<_>>>()?;
        let Some(&role) = known.iter().find(|role| role.calls.is_some()).or(known.first()) else { return Ok(0) };
        let is_trained = self.passes.pipeline(&role.pipeline)?.passes().any(|pass| pass.info().name == BACKWARD);
        let forward = PipelineSpec::from(["bind-recipe", "expand-composites", "cse", "dce"]);
        let pipeline = self.passes.pipeline(&forward)?;
        let findings = Findings::default();
        let cx = self.pass_cx(Some(recipe), Some(&findings))?;
        let mut module = for_role(built, role);
        let watch = Watch { cancel: options.runner.watch.cancel.clone(), ..Watch::default() };
        let options = RunnerOptions { verify_each: false, check_changed: false, watch, ..RunnerOptions::default() };
        Runner::new(options).run(&pipeline, &mut module, &cx)?;
        inline_into_entry(&mut module, &self.registry)?;
        Ok(module.entry().map_or(0, |entry| model_flops(entry, is_trained)))
    }
}
