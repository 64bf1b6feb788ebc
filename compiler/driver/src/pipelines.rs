//! The pipelines: which passes make what, in which order.

use halite_spec::ModuleRole;

/// Repeated until nothing changes. `cse` comes first: what is merged need not be simplified twice.
macro_rules! simplify {
    () => {
        "(cse, simplify, fold-constant, dce)*"
    };
}

/// What all modules of a model share: the model itself, as later passes want it. Nothing here moves the module to another
/// phase, so that it is done once and each role then takes its part.
///
/// Causality is checked first, where every line is still the user's. Composites that are spelled out are recognized before
/// `auto-diff`, so that their gradients are those of the composites. Projections become one before it too, so that the
/// backward and the optimizer work on what is merged.
macro_rules! prepare {
    () => {
        concat!(
            "bind-recipe, check-causality, ",
            simplify!(),
            ", fold-causal-mask, fuse-rope, fuse-norm, fuse-activation, fuse-softmax, coalesce-layers, cse, dce"
        )
    };
}

/// The passes that all modules share, in the syntax of `halite opt --passes`.
pub const PREPARE: &str = prepare!();

/// Forward, loss, backward, clipping and update in one module.
///
/// `cse` runs before `auto-diff` so that what layers share (masks, rotary tables) is differentiated once. Composites are
/// expanded after it: their gradients are composites too, in whose place `dispatch-dialect` calls kernels of the target;
/// what is left of them is expanded right after. `inline` comes before the last clean-up because a derivative function
/// repeats the primal part of its callee. `annotate-rounding` comes last: the helpers that it adds are shared by calls,
/// which `inline` would dissolve; `cse` merges the constants in them.
const TRAIN_STEP: &str = concat!(
    prepare!(),
    ", auto-diff, auto-cast, append-optimizer, check-precision, cse, dce, dispatch-dialect, expand-composites, inline, ",
    simplify!(),
    ", annotate-rounding, cse, legalize, check-precision"
);

/// The gradients by the parameters of the model, without the update: what `halite numerics` compares. The passes of
/// [`TRAIN_STEP`] that store parameters otherwise or replace what is written are left out.
pub(crate) const GRADIENTS: &str = concat!(
    "bind-recipe, cse, dce, auto-diff, auto-cast, ",
    simplify!(),
    ", dispatch-dialect, expand-composites, inline, ",
    simplify!(),
    ", annotate-rounding, cse, legalize"
);

/// The forward part alone. `dce` drops what the role does not return.
const INFERENCE: &str = concat!(
    prepare!(),
    ", auto-cast, dce, check-precision, dispatch-dialect, expand-composites, inline, ",
    simplify!(),
    ", annotate-rounding, cse, legalize, check-precision, check-causality"
);

/// The pipeline for a role, in the syntax of `halite opt --passes`.
pub fn pipeline(role: ModuleRole) -> &'static str {
    match role {
        ModuleRole::TrainStep => TRAIN_STEP,
        ModuleRole::Forward | ModuleRole::Eval => INFERENCE,
    }
}
