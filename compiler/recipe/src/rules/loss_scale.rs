//! Scales of the loss that change no digit and can be reached.

use crate::{DynamicLossScale, LossScale, Places, Recipe};
use halite_support::{Diagnostic, Diagnostics, codes};

pub(super) fn check(recipe: &Recipe, places: &Places, mistakes: &mut Diagnostics) {
    let before = mistakes.len();
    match recipe.loss_scale {
        None => {}
        Some(LossScale::Fixed(scale)) => mistakes.extend(power_of_two(("loss_scale", scale), places)),
        Some(LossScale::Dynamic(DynamicLossScale { initial, min, .. })) => {
            let scales = [("loss_scale.initial", initial), ("loss_scale.min", min)];
            mistakes.extend(scales.into_iter().filter_map(|scale| power_of_two(scale, places)));
            if mistakes.len() == before && initial < min {
                let message = format!("`loss_scale.initial` is {initial}, less than `loss_scale.min`, which is {min}");
                let place = places.get("loss_scale.min").or_else(|| places.nearest("loss_scale.initial"));
                let error = Diagnostic::error(codes::RECIPE_CLASH, message).or_at(place, "no scale is less than this");
                mistakes.push(error.help("start from `min` at least"));
            }
        }
    }
}

fn power_of_two((key, scale): (&str, u32), places: &Places) -> Option<Diagnostic> {
    if scale.is_power_of_two() {
        return None;
    }
    let (below, above) = (1 << scale.max(1).ilog2(), scale.checked_next_power_of_two().unwrap_or(LossScale::MAX));
    let message = format!("`{key}` is {scale}, expected a power of two");
    let error = Diagnostic::error(codes::RECIPE_RANGE, message).or_at(places.nearest(key), "no power of two");
    Some(error.note("others would change digits of gradients").help(format!("choose {below} or {above}")))
}
