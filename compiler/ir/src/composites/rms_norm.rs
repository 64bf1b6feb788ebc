//! `rms_norm` and its gradient.

use super::parts::{gradient_by, last_size, mean_last, require_vector, spread_last, spread_vector, sum_to_vector};
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, require_same};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, require_elements};
use crate::policy::Follows;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

/// Added to the mean square.
pub static EPS: AttrKey<f64> = AttrKey::optional("eps", 1e-5, "added to the mean square");

described! {
    /// `x * rsqrt(mean(x^2) + eps) * weight` along the last dimension; `weight` has one element for each position of it.
    #[derive(Debug)]
    pub struct RmsNorm;
}

/// Checks the operands of a norm along the last dimension: `x` of floats, and a weight with one element for each position of that
/// dimension.
pub(super) fn check(op: &str, x: &TensorType, weight: &TensorType) -> Result<()> {
    require_elements(op, Takes::Float, x)?;
    last_size(op, x)?;
    require_vector(op, "weight", x, weight)
}

/// `mean(x^2) + eps`, and the inverse of its root repeated along the last dimension of `x`.
pub(super) fn statistics(b: &mut Builder<'_>, x: Value, eps: f64) -> Result<(Value, Value)> {
    let squares = b.multiply(x, x)?;
    let mean = mean_last(b, squares)?;
    let guarded = b.add_scalar(mean, eps)?;
    let inverse = b.rsqrt(guarded)?;
    Ok((guarded, spread_last(b, inverse, x)?))
}

impl CompositeDef for RmsNorm {
    fn name(&self) -> &str {
        "rms_norm"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "weight"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![EPS.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, weight] = args.required()?;
        check("rms_norm", x, weight)?;
        Ok(smallvec![x.clone()])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [x, weight] = args.required()?;
        let (_, inverse) = statistics(b, x, attrs.get(&EPS)?)?;
        let unit = b.multiply(x, inverse)?;
        let weight = spread_vector(b, weight, x)?;
        Ok(smallvec![b.multiply(unit, weight)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&RmsNormGrad, |cx| cx.args.values().to_vec()))
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE.results(&[Follows::Widest])
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let norm = || super::op(&RmsNorm, &[]);
        let weight = || SampleArg::uniform(float, [6], 0.5, 1.5);
        vec![
            Sample::new("rows", norm(), [SampleArg::uniform(float, [2, 3, 6], -2.0, 2.0), weight()]).ulps(32.0),
            Sample::new("vector", norm(), [SampleArg::uniform(float, [6], -2.0, 2.0), weight()]).ulps(32.0),
            Sample::new("zeros", norm(), [SampleArg::listed(float, [1, 6], &[0.0]), weight()]).ulps(32.0),
        ]
    }
}

described! {
    /// The gradients of `rms_norm` by `x` and `weight` from `x`, `weight` and the cotangent. It repeats the statistics of the
    /// decomposition of `rms_norm`, which are merged with those; the normalized `x` is not needed, and so not kept.
    #[derive(Debug)]
    pub(super) struct RmsNormGrad;
}

impl CompositeDef for RmsNormGrad {
    fn name(&self) -> &str {
        "rms_norm_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "weight", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![EPS.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, weight, ct] = args.required()?;
        check("rms_norm_grad", x, weight)?;
        require_same("rms_norm_grad", x, ct)?;
        Ok(smallvec![x.clone(), weight.clone()])
    }

    /// With `c = ct * inverse` and `d = mean(x^2) + eps`: `w c - x * mean(w c x) / d` and `sum(c x)`.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [x, weight, ct] = args.required()?;
        let (guarded, inverse) = statistics(b, x, attrs.get(&EPS)?)?;
        let ct = b.multiply(ct, inverse)?;
        let products = b.multiply(ct, x)?;
        let weight_ct = sum_to_vector(b, products)?;
        let weight = spread_vector(b, weight, x)?;
        let scaled = b.multiply(ct, weight)?;
        let along = b.multiply(scaled, x)?;
        let along = mean_last(b, along)?;
        let along = b.divide(along, guarded)?;
        let along = spread_last(b, along, x)?;
        let along = b.multiply(x, along)?;
        Ok(smallvec![b.subtract(scaled, along)?, weight_ct])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE.results(&[Follows::Widest, Follows::Gradient])
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let args = [
            SampleArg::uniform(float, [2, 3, 6], -2.0, 2.0),
            SampleArg::uniform(float, [6], 0.5, 1.5),
            SampleArg::uniform(float, [2, 3, 6], -1.0, 1.0),
        ];
        vec![Sample::new("rows", super::op(&RmsNormGrad, &[]), args).ulps(64.0)]
    }
}
