//! `gelu`, in its exact and its tanh form, and its gradient.

use super::parts::gradient_by;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_binary, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// Use the tanh form instead of the exact one.
pub static TANH: AttrKey<bool> = AttrKey::optional("tanh", false, "use the tanh form instead of the exact one");

/// The weight of the cubic term in the tanh form.
const CUBIC: f64 = 0.044715;

/// `sqrt(2 / pi)`, the slope at 0 of the argument of tanh.
const TANH_SLOPE: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;

/// `1 / sqrt(2 * pi)`, the density of the normal distribution at 0.
const DENSITY: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / 2.0;

described! {
    /// `x * P(X <= x)` for a standard normal `X`: exactly `x/2 * (1 + erf(x / sqrt(2)))`, or as
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.
    #[derive(Debug)]
    pub(super) struct Gelu;
}

/// `erf` or `tanh` of the argument that the form calls for: twice the probability, less one.
fn curve(b: &mut Builder<'_>, x: Value, tanh: bool) -> Result<Value> {
    if !tanh {
        let argument = b.multiply_scalar(x, FRAC_1_SQRT_2)?;
        return b.erf(argument);
    }
    let square = b.multiply(x, x)?;
    let bent = b.multiply_scalar(square, TANH_SLOPE * CUBIC)?;
    let factor = b.add_scalar(bent, TANH_SLOPE)?;
    let argument = b.multiply(x, factor)?;
    b.tanh(argument)
}

/// `(1 + curve) / 2`.
fn probability(b: &mut Builder<'_>, curve: Value) -> Result<Value> {
    let half = b.multiply_scalar(curve, 0.5)?;
    b.add_scalar(half, 0.5)
}

/// The derivative of the probability.
fn density(b: &mut Builder<'_>, x: Value, curve: Value, tanh: bool) -> Result<Value> {
    let square = b.multiply(x, x)?;
    if !tanh {
        let exponent = b.multiply_scalar(square, -0.5)?;
        let power = b.exponential(exponent)?;
        return b.multiply_scalar(power, DENSITY);
    }
    let curve_square = b.multiply(curve, curve)?;
    let rest = b.subtract_from(1.0, curve_square)?;
    let bent = b.multiply_scalar(square, 1.5 * TANH_SLOPE * CUBIC)?;
    let slope = b.add_scalar(bent, 0.5 * TANH_SLOPE)?;
    b.multiply(rest, slope)
}

impl CompositeDef for Gelu {
    fn name(&self) -> &str {
        "gelu"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![TANH.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_unary("gelu", Takes::Float, args[0])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let curve = curve(b, args[0], attrs.get(&TANH)?)?;
        let probability = probability(b, curve)?;
        Ok(smallvec![b.multiply(args[0], probability)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(gradient_by(&GeluGrad, |cx| vec![cx.args[0]]))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let gelu = |tanh: bool| super::op(&Gelu, &[TANH.to(tanh)]);
        let near = || [SampleArg::uniform(float, [2, 5], -3.0, 3.0)];
        let far = || [SampleArg::listed(float, [4], &[-30.0, -8.0, 8.0, 30.0])];
        vec![
            Sample::new("exact", gelu(false), near()).ulps(16.0),
            Sample::new("exact far", gelu(false), far()).ulps(16.0),
            Sample::new("tanh", gelu(true), near()).ulps(16.0),
            Sample::new("tanh far", gelu(true), far()).ulps(16.0),
        ]
    }
}

described! {
    /// The gradient of `gelu` from its operand `x` and the cotangent: `ct * (probability + x * density)`. It repeats
    /// instructions of the decomposition of `gelu`, which are merged with those.
    #[derive(Debug)]
    pub(super) struct GeluGrad;
}

impl CompositeDef for GeluGrad {
    fn name(&self) -> &str {
        "gelu_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![TANH.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_binary("gelu_grad", Takes::Float, args[0], args[1])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let (x, ct, tanh) = (args[0], args[1], attrs.get(&TANH)?);
        let curve = curve(b, x, tanh)?;
        let probability = probability(b, curve)?;
        let density = density(b, x, curve, tanh)?;
        let bent = b.multiply(x, density)?;
        let slope = b.add(probability, bent)?;
        Ok(smallvec![b.multiply(ct, slope)?])
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let gelu_grad = |tanh: bool| super::op(&GeluGrad, &[TANH.to(tanh)]);
        let args = || [SampleArg::uniform(float, [2, 5], -3.0, 3.0), SampleArg::uniform(float, [2, 5], -1.0, 1.0)];
        vec![
            Sample::new("exact", gelu_grad(false), args()).ulps(32.0),
            Sample::new("tanh", gelu_grad(true), args()).ulps(32.0),
        ]
    }
}
