//! Parts of the spellings of softmax.

use crate::recognize::rewrite::{
    Bindings, MatchCx, MatchResult, Pattern, add, composite, divide, either, exponential, is, log, maximum, multiply,
    near, negate, power, range, reduce, subtract, tensor,
};
use halite_ir::Attr;
use halite_ir::ops::Reduction;
use halite_tensor::DType;

/// How a spelling has its maxima: all alike, since the gradients of the composite are those of both but of no mixture.
#[derive(Clone, Copy, Debug)]
pub(super) enum Peak {
    /// As it is.
    Plain,
    /// Behind a `stop_gradient`.
    Stopped,
}

impl Peak {
    /// A pattern for either.
    pub(super) fn each(pattern: impl Fn(Peak) -> Pattern) -> Pattern {
        either([Peak::Plain, Peak::Stopped].map(pattern))
    }
}

/// `max(x)`.
pub(super) fn peak(kind: Peak) -> Pattern {
    let x = || near(tensor("x"), "the maximum is that of another tensor, or is repeated along another dimension");
    let max = || reduce(Reduction::Max, "peak", x());
    let spelled =
        either([max(), maximum(max(), is(f64::NEG_INFINITY)), negate(reduce(Reduction::Min, "peak", negate(x())))]);
    match kind {
        Peak::Plain => near(spelled, "what is subtracted is not the maximum"),
        Peak::Stopped => composite("stop_gradient", [spelled]),
    }
}

/// `x - max(x)`.
pub(super) fn shifted(kind: Peak) -> Pattern {
    let x = || tensor("x");
    either([subtract(x(), peak(kind)), add(x(), negate(peak(kind))), negate(subtract(peak(kind), x()))])
}

/// `sum(powers)`.
pub(super) fn total(powers: Pattern) -> Pattern {
    reduce(Reduction::Sum, "sum", near(powers, "the sum is not one of the same exponentials"))
}

/// `log(sum(exp(x - max(x))))`.
pub(super) fn log_total(kind: Peak) -> Pattern {
    log(near(total(exponential(shifted(kind))), "the logarithm is not that of the sum of the exponentials"))
}

/// `powers / sum(powers)`.
pub(super) fn normalized(powers: impl Fn() -> Pattern) -> Pattern {
    let total = || total(powers());
    let inverse = either([divide(is(1.0), total()), power(total(), is(-1.0))]);
    either([
        divide(powers(), near(total(), "the denominator is not the sum of the exponentials")),
        multiply(powers(), inverse),
    ])
}

/// The maximum and the sum are over the same single dimension.
pub(super) fn one_dim(bindings: &Bindings, _: &MatchCx<'_>) -> MatchResult {
    let sum = bindings.dims("sum").unwrap_or_default();
    match bindings.dims("peak") {
        Some(peak) if peak != sum => {
            Err(format!("the maximum is taken over {}, the sum over {}", name_dims(peak), name_dims(sum)))
        }
        _ if sum.len() != 1 => Err(format!("the sum is over {}; the composite takes one", name_dims(sum))),
        _ => Ok(()),
    }
}

/// Every power of `x`, and any sum of them, is a normal number of the element type.
pub(super) fn bounded(bindings: &Bindings, cx: &MatchCx<'_>) -> MatchResult {
    const UNKNOWN: &str =
        "no maximum is subtracted, and the operand is not known to lie where powers neither overflow nor vanish";
    let bounds = bindings.tensor("x").and_then(|bound| range(cx.function, bound.view.value)).ok_or(UNKNOWN)?;
    let terms: usize = bindings.dims("sum").unwrap_or_default().iter().map(|&dim| cx.shape()[dim]).product();
    let (lowest, highest) = exponents(cx.dtype()).ok_or(UNKNOWN)?;
    let fits = bounds.low >= lowest && bounds.high + (terms.max(1) as f64).ln() <= highest;
    if fits {
        return Ok(());
    }
    let (low, high) = (bounds.low, bounds.high);
    Err(format!("no maximum is subtracted, and elements from {low} to {high} have powers beyond `{}`", cx.dtype()))
}

/// Between which exponents, with one to spare, powers of e are normal numbers of a float type.
fn exponents(dtype: DType) -> Option<(f64, f64)> {
    let least_normal = match dtype {
        DType::F16 => 2f64.powi(-14),
        DType::Bf16 | DType::F32 => f64::from(f32::MIN_POSITIVE),
        DType::F64 => f64::MIN_POSITIVE,
        _ => return None,
    };
    Some((least_normal.ln() + 1.0, dtype.max_finite()?.ln() - 1.0))
}

/// `dim`.
pub(super) fn dim(bindings: &Bindings, _: &MatchCx<'_>) -> Vec<(&'static str, Attr)> {
    let dim = bindings.dims("sum").and_then(|dims| dims.first().copied()).and_then(|dim| i64::try_from(dim).ok());
    dim.map(|dim| ("dim", Attr::Int(dim))).into_iter().collect()
}

fn name_dims(dims: &[usize]) -> String {
    let names: Vec<_> = dims.iter().map(usize::to_string).collect();
    match names.as_slice() {
        [] => "no dimension".to_owned(),
        [only] => format!("dimension {only}"),
        [first @ .., last] => format!("dimensions {} and {last}", first.join(", ")),
    }
}
