//! Narrow weights: who remembers small updates?

use super::context::AuditCx;
use super::fix::{Fix, fix_weight};
use super::report::Report;
use super::words::{families, power_of_two};
use crate::transform::slots::MASTER;
use halite_ir::{Inst, Phase};
use halite_recipe::RoundingMode;
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::DType;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// Reports weights that are narrow, have no wider copy, and are not rounded stochastically when they are written. An
/// update smaller than half the distance to the next number is then lost, however often it comes.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    let masters: FxHashSet<&Name> = cx.state(MASTER).map(|(of, _)| &of.name).collect();
    let mut lost: IndexMap<(DType, Option<Fix>), Vec<&str>> = IndexMap::new();
    for (weight, dtype) in cx.weights() {
        report.checked().weights += weight.originals().count();
        let Some(write) = cx.written_by(&weight.name) else { continue };
        if !dtype.is_narrow() || masters.contains(&weight.name) || is_stochastic(cx, write) {
            continue;
        }
        for name in weight.originals() {
            let fix = cx.precision().map(|precision| fix_weight(precision, name));
            lost.entry((dtype, fix)).or_default().push(name);
        }
    }
    for ((dtype, fix), names) in lost {
        report.add_finding("weight", dtype, &names, finding(dtype, fix, &names));
    }
}

/// Whether a write rounds stochastically. Before `legal` that is what the recipe says; then it is a call of a helper
/// that `annotate-rounding` made.
fn is_stochastic(cx: &AuditCx<'_>, write: &Inst) -> bool {
    let stated = cx.is_dither(write) || write.rounds_at_random();
    let promised = || cx.precision().is_some_and(|precision| precision.rounding == RoundingMode::Sr);
    stated || (cx.module.phase < Phase::Legal && promised())
}

fn finding(dtype: DType, fix: Option<Fix>, names: &[&str]) -> Diagnostic {
    let weights = if names.len() == 1 { "1 weight is".to_owned() } else { format!("{} weights are", names.len()) };
    let message = format!("{weights} kept in `{dtype}`, without a wider copy and rounded to nearest");
    let half = power_of_two(dtype.unit_roundoff());
    let why = format!("an update below {half} of a weight is lost, however often it comes");
    let finding = Diagnostic::warning(codes::WEIGHT_NARROW, message).note(why).note(families(names));
    match fix {
        Some(Fix { path, help, .. }) => finding.key(path).help(help),
        None => finding,
    }
}
