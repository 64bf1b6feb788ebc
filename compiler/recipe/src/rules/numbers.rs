//! Numbers of the optimizer and the schedule, judged in the types that they are computed in.

use crate::schema::{Kind, Range};
use crate::{Clip, Extension, Group, Places, Recipe, Section};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::DType;
use halite_tensor::rounding::{as_computed, turns_into};

/// A number that a program computes with.
struct Number {
    /// Its key.
    key: String,
    /// The quantity that is computed from it, as a message calls it; `None` where it is the number itself.
    of: Option<&'static str>,
    value: f64,
    range: Range,
}

impl Number {
    fn new(key: String, value: f64, range: Range) -> Self {
        Self { key, of: None, value, range }
    }

    /// The same key with a quantity that is computed from its number, which has no upper end.
    fn of(self, of: &'static str, value: f64) -> Self {
        Self { of: Some(of), value, range: Range::NotNegative, ..self }
    }
}

pub(super) fn check(recipe: &Recipe, places: &Places, extension: &dyn Extension, mistakes: &mut Diagnostics) {
    let mut refused: Vec<String> = Vec::new();
    for number in numbers(recipe, extension) {
        let Some((error, label)) = refuse(recipe, &number).filter(|_| !refused.contains(&number.key)) else { continue };
        mistakes.push(error.or_at(places.nearest(&number.key), label));
        refused.push(number.key);
    }
}

/// Reports a number that the update computes from the one under a key, where the type of the update makes it 0, infinite or negative;
/// the diagnostic has the key.
pub fn in_update(recipe: &Recipe, key: String, of: &'static str, value: f64) -> Option<Diagnostic> {
    let number = Number::new(key, value, Range::NotNegative).of(of, value);
    refuse(recipe, &number).map(|(error, _)| error.key(number.key))
}

/// Reports a number that its type does not hold, with a label for its place.
fn refuse(recipe: &Recipe, number: &Number) -> Option<(Diagnostic, String)> {
    // Scalars are computed in `f32` at least, and multiply tensors in the type of the update.
    let update = recipe.precision.update;
    let scalars = if update == DType::F64 { DType::F64 } else { DType::F32 };
    let (dtype, told) = [scalars, update].into_iter().find_map(|dtype| Some((dtype, lost(number, dtype)?)))?;
    let Number { key, of, value, .. } = number;
    let what = of.map_or_else(|| format!("`{key}` is {value:?}"), |of| format!("{of} of `{key}` is {value:?}"));
    let error = Diagnostic::error(codes::RECIPE_RANGE, format!("{what}, which is {told} in `{dtype}`"))
        .note(format!("the update is computed in `{dtype}`"))
        .help("choose a number that this type holds, or a wider `precision.update`");
    Some((error, format!("{told} in `{dtype}`")))
}

/// The value that a number becomes in a type, where it leaves its range or its meaning there.
fn lost(number: &Number, dtype: DType) -> Option<String> {
    let computed = as_computed(dtype, number.value);
    let out_of_range = (!number.range.contains(computed)).then(|| computed.to_string());
    turns_into(dtype, number.value).map(str::to_owned).or(out_of_range)
}

/// Every number of the optimizer and the schedule, and the products of two that the update computes before they multiply a tensor.
fn numbers(recipe: &Recipe, extension: &dyn Extension) -> Vec<Number> {
    let (optimizer, schedule) = (&recipe.optimizer, &recipe.schedule);
    let path = optimizer.path();
    let number = |key: &str, value, range| Number::new(format!("{path}.{key}"), value, range);
    let mut numbers = vec![
        number("lr", optimizer.lr, Range::Positive),
        number("weight_decay", optimizer.weight_decay, Range::NotNegative),
    ];
    numbers.extend(optimizer.clip.map(Clip::entry).map(|(key, bound)| number(key, bound, Range::Positive)));
    numbers.extend(optimizer.ema.map(|ema| Number::new("optimizer.ema".to_owned(), ema, Range::Inside)));
    for (path, rule) in optimizer.rules() {
        numbers.extend(settings(&extension.rules(), &rule.name, &path, &rule.settings));
    }
    for (index, group) in optimizer.groups.iter().enumerate() {
        numbers.extend(of_group(&format!("optimizer.group.{index}"), group, optimizer.lr));
    }
    numbers.extend(settings(&extension.shapes(), &schedule.shape, "schedule", &schedule.settings));
    let floor = |value| Number::new("schedule.floor".to_owned(), value, Range::Share);
    numbers.extend([floor(schedule.floor), floor(schedule.floor).of("the rate", optimizer.lr * schedule.floor)]);
    numbers
}

fn of_group(path: &str, group: &Group, lr: f64) -> Vec<Number> {
    let scale = |value| Number::new(format!("{path}.lr_scale"), value, Range::Positive);
    let decay = group.weight_decay.map(|decay| Number::new(format!("{path}.weight_decay"), decay, Range::NotNegative));
    let scales = [scale(group.lr_scale), scale(group.lr_scale).of("the rate", lr * group.lr_scale)];
    scales.into_iter().chain(decay).collect()
}

/// The numbers among the settings of a rule or a shape, each with the range of its key.
fn settings(sections: &[&'static Section], name: &str, path: &str, settings: &toml::Table) -> Vec<Number> {
    let keys = sections.iter().find(|section| section.name == name).map_or(&[][..], |section| section.keys);
    let real = |value: &toml::Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    let mut numbers = Vec::new();
    for (key, value) in keys.iter().filter_map(|key| Some((key, settings.get(key.name)?))) {
        let path = format!("{path}.{}", key.name);
        match (&key.kind, value) {
            (Kind::Real(range), value) => numbers.extend(real(value).map(|value| Number::new(path, value, *range))),
            (Kind::Pair(range) | Kind::Reals(range), toml::Value::Array(items)) => {
                let items = items.iter().enumerate().filter_map(|(index, item)| Some((index, real(item)?)));
                numbers.extend(items.map(|(index, item)| Number::new(format!("{path}.{index}"), item, *range)));
            }
            _ => {}
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Known;
    use crate::{ModelChoice, Optimizer, PrecisionName};

    fn refused(optimizer: Optimizer, update: DType) -> Vec<String> {
        let mut recipe = Recipe::new(ModelChoice::new("llama"), 1, 1, optimizer);
        recipe.precision = if update == DType::F64 { PrecisionName::Fp64 } else { PrecisionName::Mixed }.precision();
        recipe.precision.update = update;
        let mistakes = crate::check(&recipe, &Places::default(), &Known);
        mistakes.iter().map(|mistake| mistake.message().to_owned()).collect()
    }

    fn adamw() -> Optimizer {
        Optimizer::new("adamw", 1e-3)
    }

    #[test]
    fn values_are_judged_in_the_type_of_the_update() {
        let eps = |eps: f64| adamw().with("eps", eps);
        let beta = |beta: f64| adamw().with("betas", vec![0.9, beta]);
        assert_eq!(refused(eps(1e-50), DType::F32), ["`optimizer.adamw.eps` is 1e-50, which is 0 in `f32`"]);
        assert_eq!(refused(eps(1e-50), DType::F64), [""; 0]);
        assert!(refused(eps(2e-38), DType::F32)[0].starts_with("the correction at the first update of"));
        assert_eq!(
            refused(beta(0.99999999), DType::F32),
            ["`optimizer.adamw.betas.1` is 0.99999999, which is 1 in `f32`"]
        );
        assert_eq!(refused(beta(0.99999999), DType::F64), [""; 0]);
        assert_eq!(refused(beta(0.999), DType::Bf16).len(), 1);
        assert_eq!(refused(beta(0.999), DType::F32), [""; 0]);
        assert!(refused(Optimizer::new("adamw", 1e39), DType::F32)[0].ends_with("which is infinite in `f32`"));
        assert_eq!(refused(adamw().weight_decay(1e-60), DType::F32).len(), 1);
        assert_eq!(refused(adamw().clip_norm(1e-60), DType::F32).len(), 1);
    }

    #[test]
    fn numbers_of_groups_are_judged_too() {
        let muted = Group { lr_scale: 1e-36, ..Group::new("muted", &["*"]) };
        let still = Group { weight_decay: Some(1e-60), ..Group::new("still", &["*"]) };
        let optimizer = Optimizer { groups: vec![muted, still], ema: Some(0.99999999), ..adamw() };
        assert_eq!(
            refused(optimizer, DType::F32),
            [
                "`optimizer.ema` is 0.99999999, which is 1 in `f32`",
                "the rate of `optimizer.group.0.lr_scale` is 1e-39, which is 0 in `f32`",
                "`optimizer.group.1.weight_decay` is 1e-60, which is 0 in `f32`",
            ]
        );
    }

    /// Every power of ten: refused exactly where the type makes it 0 or infinite.
    #[test]
    fn a_number_passes_exactly_where_its_type_holds_it() {
        for dtype in [DType::Bf16, DType::F32, DType::F64] {
            for power in -330..=308 {
                let value: f64 = format!("1e{power}").parse().unwrap();
                if value == 0.0 {
                    continue;
                }
                let computed = as_computed(dtype, value);
                let holds = computed > 0.0 && computed.is_finite();
                let found = refused(adamw().clip_norm(value), dtype);
                assert_eq!(found.is_empty(), holds, "{value:?} in {dtype}: {found:?}");
            }
        }
    }
}
