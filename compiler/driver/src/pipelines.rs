//! The pipelines: which passes make what, in which order.

use halite_bundle::ModuleRole;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, Result, codes};

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
pub const GRADIENTS: &str = concat!(
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

/// Which passes make the modules of a bundle, in the syntax of `halite opt --passes`. A value owned by the session.
///
/// What stands before the first pass that moves a module to another phase is run once for all modules; the pipelines of all
/// roles must begin with it alike.
///
/// ```
/// use halite::{Session, pipelines::Pipelines};
/// use halite_bundle::ModuleRole;
///
/// let mut pipelines = Pipelines::builtin();
/// pipelines.insert_after("auto-cast", "my-pass")?;
/// assert!(pipelines.of(ModuleRole::TrainStep).contains("auto-cast, my-pass, append-optimizer"));
/// assert!(pipelines.of(ModuleRole::Forward).contains("auto-cast, my-pass, "));
/// assert!(pipelines.insert_after("auto-casts", "my-pass").is_err());
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pipelines {
    train_step: String,
    inference: String,
}

impl Pipelines {
    /// The built-in pipelines.
    pub fn builtin() -> Self {
        Self { train_step: TRAIN_STEP.to_owned(), inference: INFERENCE.to_owned() }
    }

    /// The pipeline of a role.
    pub fn of(&self, role: ModuleRole) -> &str {
        match role {
            ModuleRole::TrainStep => &self.train_step,
            ModuleRole::Forward | ModuleRole::Eval => &self.inference,
        }
    }

    /// Replaces the pipeline of a role; the roles `forward` and `eval` share theirs.
    pub fn set(&mut self, role: ModuleRole, pipeline: impl Into<String>) {
        match role {
            ModuleRole::TrainStep => self.train_step = pipeline.into(),
            ModuleRole::Forward | ModuleRole::Eval => self.inference = pipeline.into(),
        }
    }

    /// Inserts a pass before the first place of another, in each pipeline that has it. In a group, it is repeated with the
    /// group.
    ///
    /// # Errors
    /// When no pipeline has the other pass.
    pub fn insert_before(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.insert(anchor, &format!("{pass}, {anchor}"))
    }

    /// Inserts a pass after the first place of another, in each pipeline that has it. In a group, it is repeated with the
    /// group.
    ///
    /// # Errors
    /// When no pipeline has the other pass.
    pub fn insert_after(&mut self, anchor: &str, pass: &str) -> Result<()> {
        self.insert(anchor, &format!("{anchor}, {pass}"))
    }

    fn insert(&mut self, anchor: &str, with: &str) -> Result<()> {
        let mut found = false;
        for pipeline in [&mut self.train_step, &mut self.inference] {
            if let Some(at) = position(pipeline, anchor) {
                pipeline.replace_range(at..at + anchor.len(), with);
                found = true;
            }
        }
        if found {
            return Ok(());
        }
        let names: Vec<&str> = names(&self.train_step).chain(names(&self.inference)).map(|(_, name)| name).collect();
        let error = Diagnostic::error(codes::PIPELINE, format!("no pipeline has the pass `{anchor}`"));
        Err(error.help(suggestion(anchor, &names)))
    }
}

impl Default for Pipelines {
    fn default() -> Self {
        Self::builtin()
    }
}

/// Where a pass stands for the first time.
fn position(pipeline: &str, pass: &str) -> Option<usize> {
    names(pipeline).find(|(_, name)| *name == pass).map(|(at, _)| at)
}

/// The passes of a pipeline with their places.
fn names(pipeline: &str) -> impl Iterator<Item = (usize, &str)> {
    let mark = |c: char| matches!(c, ',' | '(' | ')' | '*') || c.is_whitespace();
    let start = pipeline.as_ptr().addr();
    pipeline.split(mark).filter(|name| !name.is_empty()).map(move |name| (name.as_ptr().addr() - start, name))
}
