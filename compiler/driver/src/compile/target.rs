//! What a recipe's target makes of compiling.

use super::CompileOptions;
use crate::legality::{cite, unknown_version};
use halite_hlo::CollectiveForm;
use halite_ir::{Indexing, KernelForm, LowerOptions};
use halite_spec::target::ElementUse;
use halite_spec::{Emit, GroupField, Recipe};
use halite_support::{Diagnostic, Result, codes};
use halite_target::Tables;

impl CompileOptions {
    /// The same options with HLO in the form that a recipe's target takes.
    #[must_use]
    pub fn for_target(&self, recipe: &Recipe) -> Self {
        let indexing = |one_hot| if one_hot { Indexing::OneHot } else { Indexing::Native };
        let form = match Tables::of(recipe.target).and_then(|tables| tables.forms(recipe.target)) {
            None => LowerOptions::default(),
            Some(forms) => LowerOptions {
                kernels: KernelForm::CustomCalls,
                reads: indexing(forms.one_hot_reads),
                sums: indexing(forms.one_hot_sums),
                collectives: collectives(recipe.neuron.emit),
                ..LowerOptions::default()
            },
        };
        let LowerOptions { rounding, without_positions, .. } = self.lower;
        let lower = LowerOptions { rounding, without_positions, ..form };
        Self { lower, ..self.clone() }
    }
}

fn collectives(emit: Emit) -> CollectiveForm {
    let groups = match emit.groups {
        GroupField::ReplicaGroups => halite_hlo::GroupField::ReplicaGroups,
        GroupField::CollectiveDeviceList => halite_hlo::GroupField::CollectiveDeviceList,
    };
    CollectiveForm { groups, channels: emit.channels }
}

/// Whether the target takes the element types of a precision.
///
/// # Errors
/// When it refuses that of matmul operands. `f64`, the only one that targets refuse, is that of everything or of nothing.
pub(super) fn check_precision(recipe: &Recipe) -> Result<()> {
    let Some(tables) = Tables::of(recipe.target) else { return Ok(()) };
    let dtype = recipe.precision.operand;
    let row = tables.element(recipe.target, tables.nearest(recipe.neuron.compiler.as_ref()), dtype.name());
    let Some(row) = row.filter(|row| row.taken == ElementUse::Refused) else { return Ok(()) };
    Err(Diagnostic::error(
        codes::ILLEGAL,
        format!("{} takes no `{dtype}`, in which the program computes", recipe.target),
    )
    .key("precision")
    .note(row.note.clone())
    .note(format!("source: {}", cite(&row.provenance)))
    .help("choose another precision; `halite verify` compares with `f64` on CPU XLA"))
}

/// A warning where the version that a recipe names gives way to another.
pub(super) fn check_compiler_version(recipe: &Recipe) -> Option<Diagnostic> {
    let wanted = recipe.neuron.compiler.as_ref().filter(|_| recipe.target.is_neuron())?;
    unknown_version(wanted).map(|warning| warning.key("neuron.compiler"))
}
