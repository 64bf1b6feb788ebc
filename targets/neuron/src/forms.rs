//! The forms of HLO that Neuron takes, and recipes that it has no form for.

use crate::tables::{CompilerVersion, ElementUse};
use crate::{Generation, Neuron, Tables};
use halite_hlo::CollectiveForm;
use halite_ir::{Indexing, KernelForm, LowerOptions};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Result, codes};

/// The options with HLO in the form that a generation takes.
pub(crate) fn forms(recipe: &Recipe, generation: Generation, options: LowerOptions) -> LowerOptions {
    let indexing = |one_hot| if one_hot { Indexing::OneHot } else { Indexing::Native };
    let Some(forms) = Tables::builtin().forms(generation) else { return options };
    let emit = Neuron::of(recipe).emit;
    LowerOptions {
        kernels: KernelForm::CustomCalls,
        reads: indexing(forms.one_hot_reads),
        sums: indexing(forms.one_hot_sums),
        collectives: CollectiveForm { groups: emit.groups, channels: emit.channels },
        plain_calls: true,
        ..options
    }
}

/// Whether a generation takes the element types of a precision.
///
/// # Errors
/// When it refuses that of matmul operands. `f64`, the only one that it refuses, is that of everything or of nothing.
pub(crate) fn check_precision(recipe: &Recipe, generation: Generation) -> Result<()> {
    let (tables, dtype) = (Tables::builtin(), recipe.precision.operand);
    let table = Neuron::of(recipe);
    let row = tables.element(generation, tables.nearest(table.compiler.as_ref()), dtype.name());
    let Some(row) = row.filter(|row| row.taken == ElementUse::Refused) else { return Ok(()) };
    Err(Diagnostic::error(codes::ILLEGAL, format!("{generation} takes no `{dtype}`, in which the program computes"))
        .key("precision")
        .note(row.note.clone())
        .note(format!("source: {}", row.provenance.cite()))
        .help("choose another precision; `halite verify` compares with `f64` on CPU XLA"))
}

/// A warning where the version that a recipe names gives way to another.
pub(crate) fn check_compiler_version(recipe: &Recipe) -> Option<Diagnostic> {
    unknown_version(Neuron::of(recipe).compiler.as_ref()?).map(|warning| warning.key("neuron.compiler"))
}

/// A warning where the rules of a version of the compiler give way to those of another.
pub fn unknown_version(wanted: &CompilerVersion) -> Option<Diagnostic> {
    let tables = Tables::builtin();
    let used = tables.nearest(Some(wanted));
    let message = format!("the rules of `neuronx-cc` {wanted} are not known; those of {used} are used");
    (used != wanted).then(|| {
        let known = format!("versions from {} to {} are known", tables.oldest(), tables.newest());
        Diagnostic::warning(codes::COMPILER_VERSION, message).note(known)
    })
}
