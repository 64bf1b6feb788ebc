//! `layer_norm` and its gradient.

use super::parts::{gradient_by, mean_last, require_vector, spread_last, spread_vector, sum_to_vector};
use super::rms_norm::{check, statistics};
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, require_same};
use crate::operands::{Args, Operands};
use crate::policy::Follows;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

static EPS: AttrKey<f64> = AttrKey::optional("eps", 1e-5, "added to the variance");

described! {
    /// `(x - mean(x)) * rsqrt(variance(x) + eps) * weight + bias` along the last dimension; the variance is the mean square
    /// of what is centered, `weight` and `bias` have one element for each position.
    #[derive(Debug)]
    pub struct LayerNorm;
}

/// `x` with mean 0 and variance 1, and what it was multiplied by.
fn standardize(b: &mut Builder<'_>, x: Value, eps: f64) -> Result<(Value, Value)> {
    let mean = mean_last(b, x)?;
    let mean = spread_last(b, mean, x)?;
    let centered = b.subtract(x, mean)?;
    let (_, inverse) = statistics(b, centered, eps)?;
    Ok((b.multiply(centered, inverse)?, inverse))
}

impl CompositeDef for LayerNorm {
    fn name(&self) -> &str {
        "layer_norm"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "weight", "bias"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![EPS.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, weight, bias] = args.required()?;
        check("layer_norm", x, weight)?;
        require_vector("layer_norm", "bias", x, bias)?;
        Ok(smallvec![x.clone()])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let x = args[0];
        let (unit, _) = standardize(b, x, attrs.get(&EPS)?)?;
        let weight = spread_vector(b, args[1], x)?;
        let bias = spread_vector(b, args[2], x)?;
        let scaled = b.multiply(unit, weight)?;
        Ok(smallvec![b.add(scaled, bias)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&LayerNormGrad, |cx| vec![cx.args[0], cx.args[1]]))
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE.results(&[Follows::Widest])
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let norm = |label: &str, x: SampleArg| {
            let vector = || SampleArg::uniform(float, [6], 0.5, 1.5);
            Sample::new(label, super::op(&LayerNorm, &[]), [x, vector(), vector()]).ulps(64.0)
        };
        let rows = SampleArg::uniform(float, [2, 3, 6], -2.0, 2.0);
        let vector = SampleArg::uniform(float, [6], -2.0, 2.0);
        let equal = SampleArg::listed(float, [1, 6], &[2.0]);
        vec![norm("rows", rows), norm("vector", vector), norm("equal", equal)]
    }
}

described! {
    /// The gradients of `layer_norm` by `x`, `weight` and `bias` from `x`, `weight` and the cotangent. It repeats
    /// instructions of the decomposition of `layer_norm`, which are merged with those.
    #[derive(Debug)]
    pub(super) struct LayerNormGrad;
}

impl CompositeDef for LayerNormGrad {
    fn name(&self) -> &str {
        "layer_norm_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "weight", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![EPS.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, weight, ct] = args.required()?;
        check("layer_norm_grad", x, weight)?;
        require_same("layer_norm_grad", x, ct)?;
        Ok(smallvec![x.clone(), weight.clone(), weight.clone()])
    }

    /// With `u` the standardized operand: `inverse * (w ct - mean(w ct) - u * mean(w ct u))`, `sum(ct u)` and `sum(ct)`.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [x, weight, ct] = args.required()?;
        let (unit, inverse) = standardize(b, x, attrs.get(&EPS)?)?;
        let weight = spread_vector(b, weight, x)?;
        let products = b.multiply(ct, unit)?;
        let weight_ct = sum_to_vector(b, products)?;
        let bias_ct = sum_to_vector(b, ct)?;
        let unit_ct = b.multiply(ct, weight)?;
        let mean = mean_last(b, unit_ct)?;
        let mean = spread_last(b, mean, x)?;
        let along = b.multiply(unit_ct, unit)?;
        let along = mean_last(b, along)?;
        let along = spread_last(b, along, x)?;
        let along = b.multiply(unit, along)?;
        let centered = b.subtract(unit_ct, mean)?;
        let across = b.subtract(centered, along)?;
        Ok(smallvec![b.multiply(across, inverse)?, weight_ct, bias_ct])
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
        vec![Sample::new("rows", super::op(&LayerNormGrad, &[]), args).ulps(64.0)]
    }
}
