//! The pipelines: the passes that make each module, in order.

use halite_passes::{Group, PipelineSpec};
use halite_support::Name;

/// The group of clean-up passes, repeated until nothing changes. `cse` comes first: merged instructions need not be simplified twice.
fn clean_up() -> Group<Name> {
    Group::new(["cse", "simplify", "fold-constant", "dce"]).named("clean-up")
}

/// The passes that all modules of a model share: they bring the model itself into the form that later passes want. None of them moves
/// the module to another phase, so they run once and each role then takes its part.
///
/// Causality is checked first, where every line is still the user's. Composites that are spelled out are recognized before
/// `auto-diff`, so that their gradients are those of the composites. Projections become one before it too, so that the
/// backward and the optimizer work on what is merged. The model is cut into the parts of a pipeline when all else of it is settled.
pub fn prepare() -> PipelineSpec {
    let recognize = ["fold-causal-mask", "fuse-rope", "fuse-norm", "fuse-activation", "fuse-softmax"];
    PipelineSpec::from(["bind-recipe", "check-causality"]).then(clean_up()).then(recognize).then([
        "coalesce-layers",
        "pad-uneven",
        "place-stages",
        "place-weights",
        "cse",
        "dce",
    ])
}

/// The passes that make the program of one rank of a mesh, and check it against the layout.
fn on_ranks() -> PipelineSpec {
    PipelineSpec::from(["partition", "take-rank", "check-replicas"])
}

/// The passes that make functions of the programs of stages, where the model is cut into the parts of a pipeline.
fn split() -> PipelineSpec {
    PipelineSpec::from(["split-stages", "split-update"])
}

/// The passes that replace ops by kernels of the target, and expand the composites that are left.
fn dispatch() -> PipelineSpec {
    PipelineSpec::from(["dispatch-dialect", "expand-composites"])
}

/// The passes that inline all calls but those that stay, and clean up.
fn flatten() -> PipelineSpec {
    PipelineSpec::from(["inline"]).then(clean_up())
}

/// The same passes for modules with backwards: residuals are chosen before, where forward and backward are functions.
fn cut() -> PipelineSpec {
    PipelineSpec::from(["cut", "split-backward"]).then(flatten())
}

/// The passes from there to HLO. `annotate-rounding` comes last of those that add anything: the helpers that it adds are shared by
/// calls, which `inline` would dissolve; `cse` merges the constants in them.
fn finish() -> PipelineSpec {
    PipelineSpec::from(["annotate-rounding", "cse", "outline-layers"]).then([
        "order-collectives",
        "combine-collectives",
        "legalize",
    ])
}

/// Forward, loss, backward, clipping and update in one module.
///
/// `key-dropout` comes first, so that forward and backward draw the same bits; modules that do not train leave dropout as it is,
/// which is nothing. `cse` runs before `auto-diff` so that what layers share (masks, rotary tables) is differentiated once. Composites are
/// expanded after it: their gradients are composites too, in whose place `dispatch-dialect` calls kernels of the target;
/// what is left of them is expanded right after. All works on the functions of the model; `inline` comes before the last
/// clean-up.
pub fn train_step() -> PipelineSpec {
    step([
        "key-dropout",
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
    step(["key-dropout", "scale-loss", "auto-diff", "auto-cast", "add-to-accumulators"])
}

/// Clipping and update, given the sums: the second of the two.
pub fn update_step() -> PipelineSpec {
    step(["auto-diff", "auto-cast", "read-accumulators", "unscale", "clip", "finite", "adjust-loss-scale", "update"])
}

fn step<const N: usize>(passes: [&'static str; N]) -> PipelineSpec {
    let clean = ["check-precision", "cse", "dce"];
    let step = prepare().then(passes).then(clean).then(on_ranks()).then(split()).then(dispatch());
    step.then(cut()).then(finish()).then(["check-precision"])
}

/// Objective, count and gradients, of parameters as the bundle stores them.
pub fn grads() -> PipelineSpec {
    step(["key-dropout", "scale-loss", "auto-diff", "auto-cast", "unscale"])
}

/// The forward part alone. `dce` drops what the role does not return.
pub fn inference() -> PipelineSpec {
    let cast = ["auto-cast", "dce", "check-precision"];
    let program = prepare().then(cast).then(on_ranks()).then(["split-stages"]).then(dispatch());
    program.then(flatten()).then(finish()).then(["check-precision", "check-causality"])
}

/// The gradients by the parameters of the model, without the update: what `halite numerics` compares. The passes of
/// [`train_step`] that store parameters otherwise or replace what is written are left out.
pub fn gradients() -> PipelineSpec {
    let cast = ["bind-recipe", "cse", "dce", "scale-loss", "auto-diff", "auto-cast", "unscale"];
    PipelineSpec::from(cast).then(clean_up()).then(dispatch()).then(cut()).then(finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiled bytes depend on the pipelines.
    #[test]
    fn the_built_in_pipelines_are_these() {
        let prepare = "bind-recipe, check-causality, clean-up(cse, simplify, fold-constant, dce)*, fold-causal-mask, \
                       fuse-rope, fuse-norm, fuse-activation, fuse-softmax, coalesce-layers, pad-uneven, place-stages, place-weights, cse, \
                       dce";
        let ranks = "partition, take-rank, check-replicas";
        let split = "split-stages, split-update";
        let dispatch = "dispatch-dialect, expand-composites";
        let finish = "inline, clean-up(cse, simplify, fold-constant, dce)*, annotate-rounding, cse, outline-layers, \
                      order-collectives, combine-collectives, legalize";
        let step = "key-dropout, scale-loss, auto-diff, auto-cast, accumulate, unscale, clip, finite, \
                    adjust-loss-scale, update, check-precision, cse, dce";
        assert_eq!(
            train_step().to_string(),
            format!("{prepare}, {step}, {ranks}, {split}, {dispatch}, cut, split-backward, {finish}, check-precision")
        );
        let cast = "auto-cast, dce, check-precision";
        let ends = "check-precision, check-causality";
        assert_eq!(
            inference().to_string(),
            format!("{prepare}, {cast}, {ranks}, split-stages, {dispatch}, {finish}, {ends}")
        );
        let cast = "bind-recipe, cse, dce, scale-loss, auto-diff, auto-cast, unscale, \
                    clean-up(cse, simplify, fold-constant, dce)*";
        assert_eq!(gradients().to_string(), format!("{cast}, {dispatch}, cut, split-backward, {finish}"));
    }
}
