//! Parts of the spellings of norms.

use crate::recognize::rewrite::{
    Bindings, MatchCx, MatchResult, Pattern, add, divide, either, is, multiply, near, number, one_over_size, power,
    reduce, rsqrt, size, sqrt, tensor,
};
use halite_ir::ops::Reduction;
use halite_ir::{Attr, Real};
use halite_tensor::DType;

const COUNT: &str = "the sum is not divided by the number of its terms";

/// The mean of `x`; `dims` names the dimensions.
pub(super) fn mean(dims: &'static str, x: impl Fn() -> Pattern) -> Pattern {
    let sum = || reduce(Reduction::Sum, dims, x());
    either([multiply(sum(), near(one_over_size(dims), COUNT)), divide(sum(), near(size(dims), COUNT))])
}

/// `x^2`.
pub(super) fn square(x: impl Fn() -> Pattern) -> Pattern {
    either([multiply(x(), x()), power(x(), is(2.0))])
}

/// `mean_square + eps`.
fn guarded(mean_square: impl Fn() -> Pattern) -> Pattern {
    add(mean_square(), near(number("eps"), "what is added to the mean square is not one number"))
}

/// `1 / sqrt(mean_square + eps)`.
fn inverse(mean_square: impl Fn() -> Pattern) -> Pattern {
    let guarded = || guarded(&mean_square);
    either([rsqrt(guarded()), divide(is(1.0), sqrt(guarded())), power(guarded(), is(-0.5))])
}

/// `x / sqrt(mean_square + eps)`.
pub(super) fn scaled(x: impl Fn() -> Pattern, mean_square: impl Fn() -> Pattern) -> Pattern {
    either([multiply(x(), inverse(&mean_square)), divide(x(), sqrt(guarded(&mean_square)))])
}

/// `x * (weight / sqrt(mean_square + eps))`.
pub(super) fn weight_first(x: impl Fn() -> Pattern, mean_square: impl Fn() -> Pattern) -> Pattern {
    let by_root = divide(tensor("weight"), sqrt(guarded(&mean_square)));
    multiply(x(), either([multiply(inverse(&mean_square), tensor("weight")), by_root]))
}

/// No weight below `2^100` overflows when it meets the largest inverse, that of the root of `eps`.
pub(super) fn weight_leaves_room(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    let max = cx.dtype().max_finite().unwrap_or_default();
    let most = bindings.number("eps").map_or(0.0, |eps| max * eps.sqrt());
    if most >= 2f64.powi(100) {
        Ok(())
    } else {
        Err("the product of the weight and the inverse could overflow".to_owned())
    }
}

/// The means are over the last dimension.
pub(super) fn over_last(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    for (name, what) in [("mean", "the mean"), ("square", "the mean square")] {
        let dims = bindings.dims(name);
        if dims.is_some_and(|dims| Some(dims) != cx.last().as_ref().map(std::slice::from_ref)) {
            return Err(format!("{what} is not over the last dimension alone"));
        }
    }
    Ok(())
}

/// `eps`, as the shortest number that its element type rounds to what was matched.
pub(super) fn eps(bindings: &Bindings, cx: &MatchCx<'_>) -> Vec<(&'static str, Attr)> {
    let shortest = |eps: f64| match cx.dtype() {
        DType::F64 => eps,
        _ => (eps as f32).to_string().parse().unwrap_or(eps),
    };
    bindings.number("eps").map(|eps| ("eps", Attr::Real(Real(shortest(eps))))).into_iter().collect()
}
