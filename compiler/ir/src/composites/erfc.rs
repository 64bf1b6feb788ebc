//! `erfc`.

use crate::attrs::Attrs;
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, erfc};
use smallvec::smallvec;
use std::f64::consts::FRAC_2_SQRT_PI;

described! {
    /// `1 - erf(x)`, also where that is too small to be a difference from 1. Types narrower than `f32` are computed in `f32`.
    #[derive(Debug)]
    pub(super) struct Erfc;
}

/// A polynomial by Horner's rule, from the highest power down.
fn polynomial(b: &mut Builder<'_>, x: Value, coefficients: &[f64]) -> Result<Value> {
    let (first, rest) = coefficients.split_first().expect("a polynomial has a coefficient");
    let first = b.splat_like(x, *first)?;
    rest.iter().try_fold(first, |sum, &coefficient| {
        let product = b.multiply(sum, x)?;
        b.add_scalar(product, coefficient)
    })
}

/// `near` below a limit, else `far`.
fn below(b: &mut Builder<'_>, x: Value, limit: f64, near: Value, far: Value) -> Result<Value> {
    let limit = b.splat_like(x, limit)?;
    let is_near = b.compare(x, limit, Direction::Lt)?;
    b.select(is_near, near, far)
}

/// `erfc(size)` from 1 on, in `f32`, from `size` and `exp(-size^2)`.
fn narrow_tail(b: &mut Builder<'_>, size: Value, power: Value) -> Result<Value> {
    let one = b.splat_like(size, 1.0)?;
    let safe = b.maximum(size, one)?;
    let inverse = b.divide(one, safe)?;
    let square = b.multiply(inverse, inverse)?;
    let near = polynomial(b, square, erfc::NEAR)?;
    let far = polynomial(b, square, erfc::FAR)?;
    let factor = below(b, size, 2.0, near, far)?;
    let scale = b.multiply(power, inverse)?;
    b.multiply(scale, factor)
}

/// `erfc(size)` from 1 on, in `f64`, from `size` and `exp(-size^2)`.
fn wide_tail(b: &mut Builder<'_>, size: Value, power: Value) -> Result<Value> {
    let [p, q, r, s] = [erfc::P, erfc::Q, erfc::R, erfc::S].map(|coefficients| polynomial(b, size, coefficients));
    let above = below(b, size, 8.0, p?, r?)?;
    let under = below(b, size, 8.0, q?, s?)?;
    let ratio = b.divide(above, under)?;
    let tail = b.multiply(power, ratio)?;
    // Where the polynomials are infinite.
    let zero = b.splat_like(size, 0.0)?;
    let is_zero = b.compare(power, zero, Direction::Eq)?;
    b.select(is_zero, zero, tail)
}

/// `erfc(x)` of a tensor of `f32` or `f64`.
fn wide(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let curve = b.erf(x)?;
    let inner = b.subtract_from(1.0, curve)?;
    let size = b.abs(x)?;
    let power = b.bell(x)?;
    let tail = match b.dtype(x) {
        DType::F64 => wide_tail(b, size, power)?,
        _ => narrow_tail(b, size, power)?,
    };
    let other = b.subtract_from(2.0, tail)?;
    let outer = below(b, x, 0.0, other, tail)?;
    below(b, size, 1.0, inner, outer)
}

impl CompositeDef for Erfc {
    fn name(&self) -> &str {
        "erfc"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        infer_unary("erfc", Takes::Float, args[0])
    }

    fn expand(&self, b: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let own = b.dtype(args[0]);
        let computed = if own == DType::F64 { DType::F64 } else { DType::F32 };
        let x = b.convert(args[0], computed)?;
        let y = wide(b, x)?;
        Ok(smallvec![b.convert(y, own)?])
    }

    /// `-ct * 2 / sqrt(pi) * e^(-x^2)`: that of the approximation is less exact, and costs more.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, _, cx| {
            let (ct, x) = (present(cx.ct())?, cx.args[0]);
            let bell = b.bell(x)?;
            let slope = b.multiply_scalar(bell, -FRAC_2_SQRT_PI)?;
            Ok(Vjp::one(b.multiply(ct, slope)?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let erfc = || super::op(&Erfc, &[]);
        let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -30.0, 30.0];
        vec![
            Sample::new("near", erfc(), [SampleArg::uniform(float, [2, 5], -1.0, 1.0)]).ulps(16.0),
            Sample::new("tails", erfc(), [SampleArg::listed(float, [6], &[-6.0, -2.5, -1.5, 1.5, 2.5, 6.0])])
                .ulps(32.0),
            Sample::new("special", erfc(), [SampleArg::listed(float, [6], &special)]).ulps(16.0),
        ]
    }
}
