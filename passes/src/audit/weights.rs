//! Narrow weights: who remembers small updates?

use super::mend::{Mend, mend_weight};
use super::report::Report;
use super::scene::Scene;
use super::words::{families, power_of_two};
use halite_ir::{Inst, Phase};
use halite_spec::RoundingMode;
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::{DType, Slot};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// Reports weights that are narrow, have no wider copy, and are not rounded stochastically when they are written. An
/// update smaller than half the distance to the next number is then lost, however often it comes.
pub(super) fn check(scene: &Scene<'_>, report: &mut Report<'_>) {
    let masters: FxHashSet<&Name> = scene.slots(Slot::Master).map(|(of, _)| &of.name).collect();
    let mut lost: IndexMap<(DType, Option<Mend>), Vec<&str>> = IndexMap::new();
    for (weight, dtype) in scene.weights() {
        report.checked().weights += weight.originals().count();
        let Some(write) = scene.replacement(&weight.name) else { continue };
        if !dtype.is_narrow() || masters.contains(&weight.name) || is_stochastic(scene, write) {
            continue;
        }
        for name in weight.originals() {
            let mend = scene.precision().map(|precision| mend_weight(precision, name));
            lost.entry((dtype, mend)).or_default().push(name);
        }
    }
    for ((dtype, mend), names) in lost {
        report.add_finding("weight", dtype, &names, finding(dtype, mend, &names));
    }
}

/// Whether a write rounds stochastically. Before `legal` that is what the recipe says; then it is a call of a helper
/// that `annotate-rounding` made.
fn is_stochastic(scene: &Scene<'_>, write: &Inst) -> bool {
    let stated = scene.is_dither(write) || write.rounds_at_random();
    let promised = || scene.precision().is_some_and(|precision| precision.rounding == RoundingMode::Sr);
    stated || (scene.module.phase < Phase::Legal && promised())
}

fn finding(dtype: DType, mend: Option<Mend>, names: &[&str]) -> Diagnostic {
    let weights = if names.len() == 1 { "1 weight is".to_owned() } else { format!("{} weights are", names.len()) };
    let message = format!("{weights} kept in `{dtype}`, without a wider copy and rounded to nearest");
    let half = power_of_two(dtype.unit_roundoff());
    let why = format!("an update below {half} of a weight is lost, however often it comes");
    let finding = Diagnostic::warning(codes::WEIGHT_NARROW, message).note(why).note(families(names));
    match mend {
        Some(Mend { path, help }) => finding.key(path).help(help),
        None => finding,
    }
}
