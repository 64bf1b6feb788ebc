//! The pipelines: which passes make what, in which order.

use halite_bundle::ModuleRole;
use halite_passes::{Group, PipelineSpec};
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Name, Result, codes};

/// Repeated until nothing changes. `cse` comes first: what is merged need not be simplified twice.
fn clean_up() -> Group<Name> {
    Group::new(["cse", "simplify", "fold-constant", "dce"]).named("clean-up")
}

/// What all modules of a model share: the model itself, as later passes want it. Nothing here moves the module to another
/// phase, so that it is done once and each role then takes its part.
///
/// Causality is checked first, where every line is still the user's. Composites that are spelled out are recognized before
/// `auto-diff`, so that their gradients are those of the composites. Projections become one before it too, so that the
/// backward and the optimizer work on what is merged.
pub fn prepare() -> PipelineSpec {
    let recognize = ["fold-causal-mask", "fuse-rope", "fuse-norm", "fuse-activation", "fuse-softmax"];
    PipelineSpec::from(["bind-recipe", "check-causality"]).then(clean_up()).then(recognize).then([
        "coalesce-layers",
        "cse",
        "dce",
    ])
}

/// Kernels of the target in the place of ops, what is left of composites and calls written out, and cleaned up.
fn dispatch() -> PipelineSpec {
    PipelineSpec::from(["dispatch-dialect", "expand-composites", "inline"]).then(clean_up())
}

/// From there to HLO. `annotate-rounding` comes last of what adds anything: the helpers that it adds are shared by calls, which
/// `inline` would dissolve; `cse` merges the constants in them.
fn finish() -> PipelineSpec {
    PipelineSpec::from(["annotate-rounding", "cse", "legalize"])
}

/// Forward, loss, backward, clipping and update in one module.
///
/// `cse` runs before `auto-diff` so that what layers share (masks, rotary tables) is differentiated once. Composites are
/// expanded after it: their gradients are composites too, in whose place `dispatch-dialect` calls kernels of the target;
/// what is left of them is expanded right after. `inline` comes before the last clean-up because a derivative function
/// repeats the primal part of its callee.
pub fn train_step() -> PipelineSpec {
    step([
        "scale-loss",
        "auto-diff",
        "auto-cast",
        "accumulate",
        "unscale",
        "clip",
        "finite",
        "adjust-loss-scale",
        "update",
    ])
}

/// The gradients of one micro-batch, added to sums that are state: the first of the two modules that make an update where
/// micro-batches are accumulated by two.
pub fn grad_step() -> PipelineSpec {
    step(["scale-loss", "auto-diff", "auto-cast", "add-to-accumulators"])
}

/// Clipping and update, given the sums: the second of the two.
pub fn update_step() -> PipelineSpec {
    step(["auto-diff", "auto-cast", "read-accumulators", "unscale", "clip", "finite", "adjust-loss-scale", "update"])
}

fn step<const N: usize>(passes: [&'static str; N]) -> PipelineSpec {
    let clean = ["check-precision", "cse", "dce"];
    prepare().then(passes).then(clean).then(dispatch()).then(finish()).then(["check-precision"])
}

/// Objective, count and gradients, of parameters as the bundle stores them.
pub fn grads() -> PipelineSpec {
    step(["scale-loss", "auto-diff", "auto-cast", "unscale"])
}

/// The forward part alone. `dce` drops what the role does not return.
pub fn inference() -> PipelineSpec {
    let cast = ["auto-cast", "dce", "check-precision"];
    prepare().then(cast).then(dispatch()).then(finish()).then(["check-precision", "check-causality"])
}

/// The gradients by the parameters of the model, without the update: what `halite numerics` compares. The passes of
/// [`train_step`] that store parameters otherwise or replace what is written are left out.
pub fn gradients() -> PipelineSpec {
    let cast = ["bind-recipe", "cse", "dce", "scale-loss", "auto-diff", "auto-cast", "unscale"];
    PipelineSpec::from(cast).then(clean_up()).then(dispatch()).then(finish())
}

/// Which passes make the modules of a bundle. A value owned by the session.
///
/// What stands before the first pass that moves a module to another phase or defines new results is run once for all modules; the pipelines of all
/// roles must begin with it alike.
///
/// ```
/// use halite::{Session, pipelines::Pipelines};
/// use halite_bundle::ModuleRole;
///
/// let mut pipelines = Pipelines::builtin();
/// pipelines.insert_after("auto-cast", "my-pass")?;
/// assert!(pipelines.of(ModuleRole::TrainStep).to_string().contains("auto-cast, my-pass, accumulate"));
/// assert!(pipelines.of(ModuleRole::Forward).to_string().contains("auto-cast, my-pass, "));
/// assert!(pipelines.insert_after("auto-casts", "my-pass").is_err());
///
/// let mut forward = pipelines.of(ModuleRole::Forward).clone();
/// forward.insert_after("dispatch-dialect", "my-pass")?;
/// pipelines.set(ModuleRole::Forward, forward);
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipelines {
    train_step: PipelineSpec,
    inference: PipelineSpec,
    grads: PipelineSpec,
    grad_step: PipelineSpec,
    update_step: PipelineSpec,
}

impl Pipelines {
    /// The built-in pipelines.
    pub fn builtin() -> Self {
        Self {
            train_step: train_step(),
            inference: inference(),
            grads: grads(),
            grad_step: grad_step(),
            update_step: update_step(),
        }
    }

    /// The pipeline of a role.
    pub fn of(&self, role: ModuleRole) -> &PipelineSpec {
        match role {
            ModuleRole::TrainStep => &self.train_step,
            ModuleRole::Forward | ModuleRole::Eval => &self.inference,
            ModuleRole::Grads => &self.grads,
            ModuleRole::GradStep => &self.grad_step,
            ModuleRole::UpdateStep => &self.update_step,
        }
    }

    /// Replaces the pipeline of a role; the roles `forward` and `eval` share theirs.
    pub fn set(&mut self, role: ModuleRole, pipeline: impl Into<PipelineSpec>) {
        match role {
            ModuleRole::TrainStep => self.train_step = pipeline.into(),
            ModuleRole::Forward | ModuleRole::Eval => self.inference = pipeline.into(),
            ModuleRole::Grads => self.grads = pipeline.into(),
            ModuleRole::GradStep => self.grad_step = pipeline.into(),
            ModuleRole::UpdateStep => self.update_step = pipeline.into(),
        }
    }

    /// Inserts a pass before the first of the name `anchor`, in each pipeline that has it, as
    /// [`PipelineSpec::insert_before`] does.
    ///
    /// # Errors
    /// When no pipeline has the other pass, or `pass` cannot be the name of a pass.
    pub fn insert_before(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.having(anchor)?.into_iter().try_for_each(|pipeline| pipeline.insert_before(anchor, pass))
    }

    /// Inserts a pass after the first of the name `anchor`, in each pipeline that has it, as
    /// [`PipelineSpec::insert_after`] does.
    ///
    /// # Errors
    /// When no pipeline has the other pass, or `pass` cannot be the name of a pass.
    pub fn insert_after(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.having(anchor)?.into_iter().try_for_each(|pipeline| pipeline.insert_after(anchor, pass))
    }

    /// The pipelines that have a pass, or a group, of this name; there must be one.
    fn having(&mut self, anchor: &str) -> Result<Vec<&mut PipelineSpec>> {
        let all = [&self.train_step, &self.inference, &self.grads, &self.grad_step, &self.update_step];
        if !all.iter().any(|pipeline| pipeline.contains(anchor)) {
            let names: Vec<&str> = all.into_iter().flat_map(PipelineSpec::names).map(|name| &**name).collect();
            let error = Diagnostic::error(codes::PIPELINE, format!("no pipeline has the pass `{anchor}`"));
            return Err(error.help(suggestion(anchor, &names)));
        }
        let all =
            [&mut self.train_step, &mut self.inference, &mut self.grads, &mut self.grad_step, &mut self.update_step];
        Ok(all.into_iter().filter(|pipeline| pipeline.contains(anchor)).collect())
    }
}

impl Default for Pipelines {
    fn default() -> Self {
        Self::builtin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is compiled depends on it to the byte.
    #[test]
    fn the_built_in_pipelines_are_these() {
        let prepare = "bind-recipe, check-causality, clean-up(cse, simplify, fold-constant, dce)*, fold-causal-mask, \
                       fuse-rope, fuse-norm, fuse-activation, fuse-softmax, coalesce-layers, cse, dce";
        let finish = "dispatch-dialect, expand-composites, inline, clean-up(cse, simplify, fold-constant, dce)*, \
                      annotate-rounding, cse, legalize";
        let step = "scale-loss, auto-diff, auto-cast, accumulate, unscale, clip, finite, adjust-loss-scale, update, \
                    check-precision, cse, dce";
        let pipelines = Pipelines::builtin();
        let of = |role| pipelines.of(role).to_string();
        assert_eq!(of(ModuleRole::TrainStep), format!("{prepare}, {step}, {finish}, check-precision"));
        let cast = "auto-cast, dce, check-precision";
        assert_eq!(of(ModuleRole::Eval), format!("{prepare}, {cast}, {finish}, check-precision, check-causality"));
        let cast = "bind-recipe, cse, dce, scale-loss, auto-diff, auto-cast, unscale, clean-up(cse, simplify, fold-constant, dce)*";
        assert_eq!(gradients().to_string(), format!("{cast}, {finish}"));
    }

    #[test]
    fn passes_go_to_each_pipeline_that_has_the_anchor() {
        let mut pipelines = Pipelines::builtin();
        pipelines.insert_before("update", "own").unwrap();
        assert!(!pipelines.of(ModuleRole::Forward).contains("own"));
        pipelines.insert_after("clean-up", "after-group").unwrap();
        pipelines.insert_before("simplify", "in-group").unwrap();
        for role in [ModuleRole::TrainStep, ModuleRole::Forward] {
            let text = pipelines.of(role).to_string();
            assert!(text.contains("clean-up(cse, in-group, simplify, fold-constant, dce)*, after-group, "), "{text}");
        }
        let error = pipelines.insert_after("auto-casts", "own").unwrap_err();
        assert!(error.to_string().contains("no pipeline has the pass `auto-casts`"), "{error}");
        let before = pipelines.clone();
        assert_eq!(pipelines.insert_after("auto-cast", "own, dce").unwrap_err().code(), codes::NAME);
        assert_eq!(pipelines, before);
    }
}
