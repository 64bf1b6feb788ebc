//! Estimates of the resources that modules need, as text.

use crate::table::{bytes, facts, short, table};
use halite_bundle::Manifest;
use halite_bundle::estimate::{Estimate, FitVerdict, MemoryKind};
use halite_neuron::{Generation, profile};
use halite_recipe::Recipe;

/// The verdict on what the target takes, of a recipe that was compiled for it.
pub(super) fn legal(recipe: &Recipe, generation: Generation) -> String {
    let profile = profile(recipe, generation);
    let but = if profile.allow.is_empty() { String::new() } else { format!(", but for {}", profile.allow.join(", ")) };
    format!("yes: breaks no rule of {} for neuronx-cc {}{but}", profile.target, profile.version)
}

/// The verdict on what one core holds: that of the module that is furthest from it, by name.
pub(super) fn fits(manifest: &Manifest) -> String {
    match manifest.furthest_from_fitting() {
        Some((name, estimate, _)) => format!("{} (`{name}`)", verdict(estimate)),
        None => "unknown".to_owned(),
    }
}

/// The verdict in a word or two.
pub(super) fn word(verdict: FitVerdict) -> &'static str {
    match verdict {
        FitVerdict::Fits => "yes",
        FitVerdict::FitsWithFlag => "with a flag",
        FitVerdict::MayNotFit => "perhaps not",
        FitVerdict::DoesNotFit => "no",
    }
}

/// Whether a module fits, with the figures that say so.
fn verdict(estimate: &Estimate) -> String {
    let Some(fit) = estimate.fit else { return "unknown".to_owned() };
    let word = word(fit.verdict());
    let memory = (bytes(estimate.memory.total()), bytes(fit.memory_limit));
    let instructions = (short(estimate.instructions.total()), short(fit.instruction_limit));
    let raised = match fit.instructions == FitVerdict::Fits || fit.raised_limit == fit.instruction_limit {
        true => String::new(),
        false => format!(", or {} with a flag", short(fit.raised_limit)),
    };
    format!(
        "{word}: about {} of the {} of a core, {} of the {} instructions of a module{raised}",
        memory.0, memory.1, instructions.0, instructions.1
    )
}

/// The memory and the instructions of a module.
pub(super) fn describe(name: &str, estimate: &Estimate) -> String {
    let memory = &estimate.memory;
    let mut pairs = vec![
        ("arguments", bytes(memory.arguments)),
        ("outputs", bytes(memory.outputs)),
        ("aliased", bytes(memory.aliased)),
        ("temporaries", format!("{} (estimated)", bytes(memory.temporaries))),
    ];
    if memory.resident > 0 {
        pairs.push(("resident", format!("{} of state that other modules take", bytes(memory.resident))));
    }
    pairs.push(("all", bytes(memory.total())));
    let instructions = &estimate.instructions;
    if estimate.fit.is_some() {
        let parts = [
            (instructions.matmul, "matmul"),
            (instructions.vector, "vector"),
            (instructions.transfer, "transfer"),
            (instructions.kernel, "kernel"),
            (instructions.collective, "collective"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{what} {}", short(*count))).collect();
        pairs.push(("instructions", format!("{} ({})", short(instructions.total()), parts.join(", "))));
        pairs.push(("fits", verdict(estimate)));
    }
    if !estimate.unknown.is_empty() {
        pairs.push(("not known", format!("{}: counted as kernels", estimate.unknown.join(", "))));
    }
    format!("\n{name}: memory of one core\n{}\n{}", facts(&pairs), peak(estimate))
}

/// A table of the memory that is live at the peak, by kind.
fn peak(estimate: &Estimate) -> String {
    let peak = &estimate.memory.peak;
    let share = |part: u64| format!("{:.1}%", part as f64 / peak.total().max(1) as f64 * 100.0);
    let head = ["at the peak", "bytes", "share"].map(str::to_owned).to_vec();
    let kinds = MemoryKind::ALL.into_iter().filter(|kind| peak.of(*kind) > 0);
    let rows = kinds.map(|kind| vec![kind.name().to_owned(), bytes(peak.of(kind)), share(peak.of(kind))]);
    let all = vec!["all".to_owned(), bytes(peak.total()), share(peak.total())];
    table(&[head].into_iter().chain(rows).chain([all]).collect::<Vec<_>>())
}
