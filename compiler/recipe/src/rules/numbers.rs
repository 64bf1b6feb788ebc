//! Numbers of the update rule, judged in the types that they are computed in.

use crate::Places;
use crate::schema::Range;
use crate::{AdamW, Optimizer, Recipe, Sgd};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::DType;
use halite_tensor::rounding::{as_computed, turns_into};

/// A number that a program computes with.
struct Number {
    /// Its key.
    key: String,
    /// What is computed of it, where that is not the number itself.
    of: Option<&'static str>,
    value: f64,
    range: Range,
}

impl Number {
    fn new(key: String, value: f64, range: Range) -> Self {
        Self { key, of: None, value, range }
    }

    /// What is computed of it, which has no upper end.
    fn of(self, of: &'static str, value: f64) -> Self {
        Self { of: Some(of), value, range: Range::NotNegative, ..self }
    }
}

pub(super) fn check(recipe: &Recipe, places: &Places, mistakes: &mut Diagnostics) {
    // Scalars are computed in `f32` at least, and multiply tensors in the type of the update.
    let update = recipe.precision.update;
    let scalars = if update == DType::F64 { DType::F64 } else { DType::F32 };
    let mut refused: Vec<String> = Vec::new();
    for number in numbers(recipe) {
        let lost = [scalars, update].into_iter().find_map(|dtype| Some((dtype, lost(&number, dtype)?)));
        let Some((dtype, told)) = lost.filter(|_| !refused.contains(&number.key)) else { continue };
        let Number { key, of, value, .. } = &number;
        let what = of.map_or_else(|| format!("`{key}` is {value:?}"), |of| format!("{of} of `{key}` is {value:?}"));
        let error = Diagnostic::error(codes::RECIPE_RANGE, format!("{what}, which is {told} in `{dtype}`"));
        mistakes.push(
            error
                .or_at(places.nearest(key), format!("{told} in `{dtype}`"))
                .note(format!("the update is computed in `{dtype}`"))
                .help("choose a number that this type holds, or a wider `precision.update`"),
        );
        refused.push(number.key);
    }
}

/// What a number is in a type, where it leaves its range or its meaning there.
fn lost(number: &Number, dtype: DType) -> Option<String> {
    let computed = as_computed(dtype, number.value);
    let out_of_range = (!number.range.contains(computed)).then(|| computed.to_string());
    turns_into(dtype, number.value).map(str::to_owned).or(out_of_range)
}

/// Every number of the update rule, and what the update computes of several before it is a tensor.
fn numbers(recipe: &Recipe) -> Vec<Number> {
    let (rule, lr, decay, clip) = match &recipe.optimizer {
        Optimizer::AdamW(AdamW { lr, weight_decay, clip_norm, .. }) => ("adamw", *lr, *weight_decay, *clip_norm),
        Optimizer::Sgd(Sgd { lr, weight_decay, clip_norm, .. }) => ("sgd", *lr, *weight_decay, *clip_norm),
    };
    let number = |key: &str, value, range| Number::new(format!("optimizer.{rule}.{key}"), value, range);
    let floor = |value| Number::new("schedule.floor".to_owned(), value, Range::Share);
    let mut numbers = vec![number("lr", lr, Range::Positive), number("weight_decay", decay, Range::NotNegative)];
    numbers.extend(clip.map(|clip| number("clip_norm", clip, Range::Positive)));
    match &recipe.optimizer {
        Optimizer::Sgd(Sgd { momentum, .. }) => numbers.push(number("momentum", *momentum, Range::Decay)),
        Optimizer::AdamW(AdamW { betas: [first, second], eps, .. }) => {
            numbers.push(number("betas.0", *first, Range::Decay));
            numbers.push(number("betas.1", *second, Range::Decay));
            numbers.push(number("eps", *eps, Range::Positive));
            let corrected = eps * (1.0 - second).sqrt();
            numbers.push(number("eps", *eps, Range::Positive).of("the correction at the first update", corrected));
        }
    }
    let share = recipe.schedule.floor;
    numbers.extend([floor(share), floor(share).of("the rate", lr * share)]);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelChoice, PrecisionName};

    fn refused(change: impl FnOnce(&mut AdamW), update: DType) -> Vec<String> {
        let mut rule = AdamW::new(1e-3);
        change(&mut rule);
        let mut recipe = Recipe::new(ModelChoice::new("llama"), 1, 1, rule);
        recipe.precision = if update == DType::F64 { PrecisionName::Fp64 } else { PrecisionName::Mixed }.precision();
        recipe.precision.update = update;
        let mut mistakes = Diagnostics::new();
        check(&recipe, &Places::default(), &mut mistakes);
        mistakes.iter().map(|mistake| mistake.message().to_owned()).collect()
    }

    #[test]
    fn values_are_judged_in_the_type_of_the_update() {
        let eps = |eps: f64| move |rule: &mut AdamW| rule.eps = eps;
        let beta = |beta: f64| move |rule: &mut AdamW| rule.betas[1] = beta;
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
        assert!(refused(|rule| rule.lr = 1e39, DType::F32)[0].ends_with("which is infinite in `f32`"));
        assert_eq!(refused(|rule| rule.weight_decay = 1e-60, DType::F32).len(), 1);
        assert_eq!(refused(|rule| rule.clip_norm = Some(1e-60), DType::F32).len(), 1);
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
                let found = refused(|rule| rule.clip_norm = Some(value), dtype);
                assert_eq!(found.is_empty(), holds, "{value:?} in {dtype}: {found:?}");
            }
        }
    }
}
