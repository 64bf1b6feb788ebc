//! The forms of HLO that Neuron takes, and recipes that it has no form for.

use crate::tables::{CompilerVersion, ElementUse};
use crate::{Generation, Neuron, Tables};
use halite_hlo::{CollectiveForm, Streams};
use halite_ir::{Indexing, KernelForm, LowerOptions};
use halite_recipe::{Calls, Divides, MeshAxis, Parallel, Recipe};
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
        collectives: CollectiveForm { groups: emit.groups, channels: emit.channels, ordered: ordered(recipe) },
        plain_calls: true,
        ..options
    }
}

/// The form of calls where a recipe states none.
pub(crate) const CALLS: Calls = Calls::Inline;

/// The streams of collectives that a token puts in one order, where the recipe wants it and the passes write an order.
pub(crate) fn ordered(recipe: &Recipe) -> Option<Streams> {
    let parallel = recipe.parallel.as_ref().filter(|parallel| parallel.stores_parts())?;
    let is_written = Neuron::of(recipe).emit.tokens && recipe.calls(CALLS) == Calls::Inline;
    let shares = |axis: &MeshAxis| axis.divides() == Divides::Weights;
    let inside = parallel.order.iter().rev().take_while(|axis| !shares(axis));
    let stride = inside.map(|&axis| parallel.degree(axis)).fold(1, u32::saturating_mul);
    let ranks = parallel.order.iter().find(|axis| shares(axis)).map_or(1, |&axis| parallel.degree(axis));
    is_written.then_some(Streams { ranks, stride })
}

/// A warning where a recipe wants tokens for an order that no pass writes.
pub(crate) fn check_tokens(recipe: &Recipe) -> Option<Diagnostic> {
    if !Neuron::of(recipe).emit.tokens || ordered(recipe).is_some() {
        return None;
    }
    let stores = recipe.parallel.as_ref().is_some_and(Parallel::stores_parts);
    let (why, help) = match stores {
        true => ("layers are calls", "set `emit.calls = \"inline\"`"),
        false => ("ranks store no parts of weights", "set `parallel.fsdp`"),
    };
    let message = format!("`neuron.emit.tokens` has no effect: {why}, and no pass orders collectives");
    let warning = Diagnostic::warning(codes::RECIPE_CLASH, message).key("neuron.emit.tokens");
    Some(warning.help(format!("{help}, or leave out `neuron.emit.tokens`")))
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
