//! Moments of the optimizer: does their element type resolve what one update does to them?

use super::context::AuditCx;
use super::fix::{Fix, RecipeKey, fix};
use super::report::Report;
use super::words::{families, power_of_two, significant};
use crate::framework::exception::Subject;
use halite_optim::kinds::{M, V};
use halite_recipe::RoundingMode;
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::DType;
use indexmap::IndexMap;

/// Reports moments that one update moves by less than their element type resolves.
///
/// An update takes `1 - beta` of a moment away. The distance of neighbours in a type with p bits of significand is up to
/// `2^(1-p)` of the number: `2^-7` in `bf16`. Below that, a moment that is rounded to nearest moves in jumps or not at
/// all: 0.999 itself is 1 in `bf16`. Rounded stochastically it is right on average, but every write adds noise that is
/// larger than the update; so that is reported too.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) {
    for kind in [M, V] {
        let mut coarse: IndexMap<Alike<'_>, Vec<&str>> = IndexMap::new();
        let slots =
            cx.state(kind).flat_map(|(weight, dtype)| weight.originals().map(move |name| (weight, name, dtype)));
        for (weight, name, dtype) in slots {
            report.checked().moments += 1;
            let group = weight.weight().and_then(|info| info.group.as_ref());
            if decay(cx, kind, group).is_some_and(|(_, beta)| 1.0 - beta < resolution(dtype)) {
                let subject = Subject::Parameter(name);
                let fix = cx.precision().map(|precision| fix(precision, RecipeKey::MOMENTS, subject));
                coarse.entry((group, dtype, fix)).or_default().push(name);
            }
        }
        for ((group, dtype, fix), names) in coarse {
            if let Some(decay) = decay(cx, kind, group) {
                let finding = finding(cx, kind, decay, dtype).note(listed(&names));
                report.add_finding(kind, dtype, &names, with_remedy(finding, fix, decay.0));
            }
        }
    }
}

/// The key of moments that make one finding: the group of their weights, their type, and the fix.
type Alike<'a> = (Option<&'a Name>, DType, Option<Fix>);

/// The distance of neighbours relative to their size, at most: `2^(1-p)`.
fn resolution(dtype: DType) -> f64 {
    2.0 * dtype.unit_roundoff()
}

/// The decay rate of a moment in a group and its name in formulas.
fn decay(cx: &AuditCx<'_>, kind: &str, group: Option<&Name>) -> Option<(&'static str, f64)> {
    let optimizer = &cx.recipe?.optimizer;
    let rule = optimizer.rule_of(group.and_then(|group| optimizer.group(group)));
    cx.rules.read(rule).ok()?.decay_rate(kind)
}

fn finding(cx: &AuditCx<'_>, kind: &str, (word, beta): (&str, f64), dtype: DType) -> Diagnostic {
    let (step, resolution) = (significant(1.0 - beta), resolution(dtype));
    let message =
        format!("the moments `{kind}` are kept in `{dtype}`, which does not resolve their step 1 - {word} = {step}");
    let apart = power_of_two(resolution);
    let why =
        format!("numbers of `{dtype}` are up to {apart} of themselves apart: a smaller step is lost or grows to that");
    let mut finding = Diagnostic::warning(codes::MOMENT_NARROW, message).note(why);
    if cx.precision().is_some_and(|precision| precision.rounding == RoundingMode::Sr) {
        finding = finding.note("rounded stochastically they are right on average, with more noise than signal");
    }
    finding
}

fn listed(names: &[&str]) -> String {
    format!("{} of them: {}", names.len(), families(names))
}

fn with_remedy(finding: Diagnostic, fix: Option<Fix>, word: &str) -> Diagnostic {
    let Some(Fix { path, help, .. }) = fix else { return finding };
    finding.key(path).help(format!("{help}, or choose a smaller {word}"))
}
