//! Checks of overrides: each changes something, and none contradicts the rest.

use super::precision;
use crate::{Master, Places, Precision, PrecisionOverride};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::DType;

pub(super) fn check(precision: &Precision, places: &Places, mistakes: &mut Diagnostics) {
    for (index, change) in precision.overrides.iter().enumerate() {
        let path = format!("precision.override.{index}");
        Override { change, path: &path, places }.check(precision, mistakes);
    }
}

/// One override, `path` being its path in the recipe.
struct Override<'a> {
    change: &'a PrecisionOverride,
    path: &'a str,
    places: &'a Places,
}

impl Override<'_> {
    fn check(&self, base: &Precision, mistakes: &mut Diagnostics) {
        let before = mistakes.len();
        self.patterns(mistakes);
        mistakes.extend(self.types().filter_map(|entry| precision::usable(entry, self.places, self.path)));
        if mistakes.len() == before {
            mistakes.extend(self.all_or_nothing(base));
        }
        if mistakes.len() > before {
            return;
        }
        let changed = self.applied(base);
        if self.change.operand.is_some() || self.change.accumulate.is_some() {
            mistakes.extend(precision::accumulate(&changed, self.places, self.path));
        }
        // Weights that are as wide as the master of another table have none.
        if self.change.weight.is_some() && self.change.master.is_some() {
            mistakes.extend(precision::master(&changed, self.places, self.path));
        }
    }

    /// Reports `f64` beside other types: it is for verification, of everything.
    fn all_or_nothing(&self, base: &Precision) -> Option<Diagnostic> {
        let is_f64 = |dtype: DType| dtype == DType::F64;
        let (key, dtype) = self.types().find(|&(_, dtype)| is_f64(dtype) != is_f64(base.operand))?;
        let with = if is_f64(base.operand) { "of" } else { "without" };
        let message = format!("an override to `{dtype}` in a recipe {with} `f64`");
        let error = self.error(key, message, "`f64` is all or nothing");
        Some(error.help("set `precision = \"fp64\"` without overrides, or use `f64` nowhere"))
    }

    /// Checks that the patterns choose either instructions or parameters, and that the types belong to them.
    fn patterns(&self, mistakes: &mut Diagnostics) {
        let PrecisionOverride { op, scope, parameter, .. } = self.change;
        let (of_ops, of_parameters) = (self.of_ops(), self.of_parameters());
        let instructions = op.is_some() || scope.is_some();
        if !instructions && parameter.is_none() {
            mistakes.push(
                self.error("", "an override without a pattern", "of what?").help(
                    "add `op`, `scope` or `parameter`, e.g. `scope = \"model.layers.0.*\"`; `*` matches any text",
                ),
            );
        } else if instructions && parameter.is_some() {
            mistakes.push(
                self.error("parameter", "an override both of parameters and of instructions", "nothing is both")
                    .help("make two overrides of it"),
            );
        } else if let Some((key, _)) = of_ops.first().filter(|_| parameter.is_some()) {
            mistakes.push(
                self.error(key, format!("`{key}` is no type of a parameter"), "no effect on parameters")
                    .help(format!("choose instructions with `op` or `scope`, or remove `{key}`")),
            );
        } else if let Some((key, _)) = of_parameters.first().filter(|_| instructions) {
            mistakes.push(
                self.error(key, format!("`{key}` is no type of an instruction"), "no effect on instructions")
                    .help(format!("choose parameters with `parameter`, or remove `{key}`")),
            );
        }
        if of_ops.is_empty() && of_parameters.is_empty() {
            mistakes.push(
                self.error("", "an override that changes nothing", "no element type")
                    .help("add e.g. `operand = \"f32\"` for instructions or `weight = \"f32\"` for parameters"),
            );
        }
    }

    fn error(&self, key: &str, message: impl Into<String>, label: &str) -> Diagnostic {
        let place = self.places.nearest(&format!("{}.{key}", self.path));
        Diagnostic::error(codes::RECIPE_CLASH, message).or_at(place, label)
    }

    /// The types that go with `parameter`.
    fn of_parameters(&self) -> Vec<Stated> {
        let PrecisionOverride { weight, master, moments, .. } = *self.change;
        let master = master.map(Master::dtype);
        stated([("weight", weight.map(Some)), ("master", master), ("moments", moments.map(Some))])
    }

    /// The types that go with `op` and `scope`.
    fn of_ops(&self) -> Vec<Stated> {
        let PrecisionOverride { operand, accumulate, sensitive, gradient, reduce, .. } = *self.change;
        stated([
            ("operand", operand.map(Some)),
            ("accumulate", accumulate.map(Some)),
            ("sensitive", sensitive.map(Some)),
            ("gradient", gradient.map(Some)),
            ("reduce", reduce.map(Some)),
        ])
    }

    /// All types.
    fn types(&self) -> impl Iterator<Item = precision::Entry> {
        let stated = self.of_parameters().into_iter().chain(self.of_ops());
        stated.filter_map(|(key, dtype)| Some((key, dtype?)))
    }

    /// The precision where the override matches, as far as types are compared.
    fn applied(&self, base: &Precision) -> Precision {
        Precision {
            weight: self.change.weight.unwrap_or(base.weight),
            master: self.change.master.unwrap_or(base.master),
            operand: self.change.operand.unwrap_or(base.operand),
            accumulate: self.change.accumulate.unwrap_or(base.accumulate),
            ..base.clone()
        }
    }
}

/// An element type that an override states under a key; `None` where it says `none`.
type Stated = (&'static str, Option<DType>);

fn stated<const N: usize>(keys: [(&'static str, Option<Option<DType>>); N]) -> Vec<Stated> {
    keys.into_iter().filter_map(|(key, dtype)| Some((key, dtype?))).collect()
}
