//! Entries of the recipe that fix findings.

use super::ENOUGH;
use crate::framework::exception::Subject;
use halite_recipe::{Master, Precision, PrecisionOverride};
use halite_tensor::DType;

/// An element type that a recipe states, and that exceptions may state otherwise.
#[derive(Clone, Copy)]
pub(super) struct RecipeKey {
    name: &'static str,
    stated: fn(&Precision) -> DType,
    excepted: fn(&PrecisionOverride) -> Option<DType>,
}

impl RecipeKey {
    pub(super) fn is_reduce(self) -> bool {
        self.name == Self::REDUCE.name
    }

    pub(super) const SENSITIVE: Self = Self { name: "sensitive", stated: |p| p.sensitive, excepted: |e| e.sensitive };
    pub(super) const ACCUMULATE: Self =
        Self { name: "accumulate", stated: |p| p.accumulate, excepted: |e| e.accumulate };
    pub(super) const GRADIENT: Self = Self { name: "gradient", stated: |p| p.gradient, excepted: |e| e.gradient };
    pub(super) const REDUCE: Self = Self { name: "reduce", stated: |p| p.reduce, excepted: |e| e.reduce };
    pub(super) const UPDATE: Self = Self { name: "update", stated: |p| p.update, excepted: |_| None };
    pub(super) const MOMENTS: Self = Self { name: "moments", stated: |p| p.moments, excepted: |e| e.moments };
}

/// A change of the recipe that fixes a finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fix {
    /// The entry of the recipe, by its dotted path.
    pub(super) path: String,
    /// The advice on the new value.
    pub(super) help: String,
    /// The type that the entry states for what instructions do; none where it is about weights.
    pub(super) stated: Option<DType>,
}

/// The exception in force, or the key itself, or that neither is at fault.
pub(super) fn fix(precision: &Precision, key: RecipeKey, subject: Subject<'_>) -> Fix {
    let RecipeKey { name, stated, excepted } = key;
    let fitting = precision.overrides.iter().enumerate().rev().filter(|(_, exception)| subject.fits(exception));
    let mut exceptions = fitting.filter_map(|(index, exception)| Some((index, excepted(exception)?)));
    let Some((index, dtype)) = exceptions.next() else {
        let path = format!("precision.{name}");
        let dtype = stated(precision);
        let help = if dtype.is_narrow() { format!("set `{path} = \"{ENOUGH}\"`") } else { wide_already(&path, dtype) };
        return Fix { path, help, stated: Some(dtype) };
    };
    let beneath = exceptions.next().map_or_else(|| stated(precision), |(_, dtype)| dtype);
    let path = format!("precision.override.{index}.{name}");
    let help = format!("set `{name} = \"{ENOUGH}\"` in {}", entry(index));
    let help = match (dtype.is_narrow(), beneath.is_narrow()) {
        (false, _) => wide_already(&path, dtype),
        (true, true) => help,
        (true, false) => format!("{help}, or remove it"),
    };
    Fix { path, help, stated: Some(dtype) }
}

fn wide_already(path: &str, dtype: DType) -> String {
    format!("`{path}` is `{dtype}` already: the model, or a pass of yours, narrows it here")
}

/// The fix for a parameter whose weight is narrow, has no master weight and is rounded to nearest. A master weight must be wider than
/// the weight, in every table that states one of the two.
pub(super) fn fix_weight(precision: &Precision, parameter: &str) -> Fix {
    let overrides = &precision.overrides;
    let last = |states: fn(&PrecisionOverride) -> bool| {
        overrides.iter().rposition(|exception| states(exception) && Subject::Parameter(parameter).fits(exception))
    };
    let (weight, master) = (last(|exception| exception.weight.is_some()), last(|exception| exception.master.is_some()));
    let wide = format!("`weight = \"{ENOUGH}\"`");
    let copy = format!("`master = \"{ENOUGH}\"`");
    let (path, help) = match (weight, master) {
        (None, None) => {
            ("precision.weight".to_owned(), format!("set `precision.master = \"{ENOUGH}\"`{}", others(precision)))
        }
        (None, Some(index)) => {
            (format!("precision.override.{index}.master"), format!("set {copy} in {}", entry(index)))
        }
        (Some(index), master) => {
            let later = master.filter(|master| *master > index);
            let help = match (overrides[index].master.unwrap_or(precision.master), later) {
                (Master::None, None) => format!("set {wide} in {}, or {copy} in it", entry(index)),
                (Master::None, Some(_)) => format!("set {wide} in {}", entry(index)),
                (Master::F32, later) => format!("set {copy} in {}", entry(later.unwrap_or(index))),
            };
            (format!("precision.override.{index}.weight"), help)
        }
    };
    Fix { path, help: format!("{help}, or round stochastically with `precision.rounding = \"sr\"`"), stated: None }
}

/// The other changes where weights get master weights: in exceptions whose weights are as wide as those.
fn others(precision: &Precision) -> String {
    let is_wide = |exception: &PrecisionOverride| {
        exception.master.is_none() && exception.weight.is_some_and(|dtype| !dtype.is_narrow())
    };
    let wide = precision.overrides.iter().enumerate().filter(|(_, exception)| is_wide(exception));
    let entries: Vec<_> = wide.map(|(index, _)| entry(index)).collect();
    if entries.is_empty() { String::new() } else { format!(" and `master = \"none\"` in {}", entries.join(", ")) }
}

/// An exception as people count.
fn entry(index: usize) -> String {
    format!("`precision.override` {}", index + 1)
}
