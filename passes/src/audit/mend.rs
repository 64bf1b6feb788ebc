//! Which entry of the recipe mends a finding.

use super::ENOUGH;
use crate::pattern::matches_pattern;
use halite_spec::{Precision, PrecisionOverride};
use halite_tensor::DType;

/// An element type that a recipe states, and that exceptions may state otherwise.
#[derive(Clone, Copy)]
pub(super) struct RecipeKey {
    name: &'static str,
    stated: fn(&Precision) -> DType,
    excepted: fn(&PrecisionOverride) -> Option<DType>,
}

impl RecipeKey {
    pub(super) const SENSITIVE: Self = Self { name: "sensitive", stated: |p| p.sensitive, excepted: |e| e.sensitive };
    pub(super) const ACCUMULATE: Self =
        Self { name: "accumulate", stated: |p| p.accumulate, excepted: |e| e.accumulate };
    pub(super) const GRADIENT: Self = Self { name: "gradient", stated: |p| p.gradient, excepted: |e| e.gradient };
    pub(super) const REDUCE: Self = Self { name: "reduce", stated: |p| p.reduce, excepted: |e| e.reduce };
    pub(super) const UPDATE: Self = Self { name: "update", stated: |p| p.update, excepted: |_| None };
    pub(super) const WEIGHT: Self = Self { name: "weight", stated: |p| p.weight, excepted: |e| e.weight };
    pub(super) const MOMENTS: Self = Self { name: "moments", stated: |p| p.moments, excepted: |e| e.moments };
}

/// What to change.
#[derive(Clone, Debug)]
pub(super) struct Mend {
    /// The entry of the recipe, by its dotted path.
    pub(super) path: String,
    /// What to write.
    pub(super) help: String,
}

/// What an exception is matched against.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// An instruction, by op and scope.
    Inst(&'a str, &'a str),
    /// A parameter, by name.
    Parameter(&'a str),
}

impl Subject<'_> {
    fn fits(self, exception: &PrecisionOverride) -> bool {
        let fits = |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|p| matches_pattern(p, text));
        match self {
            Subject::Inst(op, scope) => {
                exception.parameter.is_none() && fits(&exception.op, op) && fits(&exception.scope, scope)
            }
            Subject::Parameter(name) => exception.parameter.is_some() && fits(&exception.parameter, name),
        }
    }
}

/// The exception in force, or the key itself, or that neither is at fault.
pub(super) fn mend(precision: &Precision, key: RecipeKey, subject: Subject<'_>) -> Mend {
    let RecipeKey { name, stated, excepted } = key;
    let states = |exception: &PrecisionOverride| excepted(exception).is_some() && subject.fits(exception);
    if let Some(index) = precision.overrides.iter().rposition(states) {
        let path = format!("precision.override.{index}.{name}");
        let (number, least) = (index + 1, ENOUGH);
        return Mend {
            path,
            help: format!("set `{name} = \"{least}\"` in `precision.override` {number}, or remove it"),
        };
    }
    let path = format!("precision.{name}");
    let help = if stated(precision).size() < ENOUGH.size() {
        format!("set `{path} = \"{ENOUGH}\"`")
    } else {
        format!("`{path}` is `{}` already: the model, or a pass of yours, narrows it here", stated(precision))
    };
    Mend { path, help }
}
