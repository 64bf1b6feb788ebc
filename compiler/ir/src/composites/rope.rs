//! `rope`.

use crate::attr::{Attr, Real};
use crate::build::{Builder, Values, present};
use crate::composite::{AttrSpec, Attrs, CompositeDef};
use crate::op::{InferCx, Policy, Sample, SampleArg, Vjp, VjpCx, attr_error, shape_error};
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;
use std::sync::LazyLock;

static SCHEMA: LazyLock<[AttrSpec; 2]> = LazyLock::new(|| {
    [
        AttrSpec::optional("theta", Attr::Real(Real(10000.0)), "the base of the angular frequencies; positive"),
        AttrSpec::optional("inverse", Attr::Bool(false), "rotate the other way"),
    ]
});

/// Rotary position embedding of `x[batch, seq, heads, head_dim]` by halves, as Hugging Face's `rotate_half`.
///
/// At position `p`, elements `i` and `i + head_dim/2` are rotated as a point of the plane by the angle
/// `p * theta^(-2i/head_dim)`. Angles, sines and cosines are computed in `f32`, or in `f64` for an `f64` operand, and
/// rounded to the operand's type before they are applied.
#[derive(Debug)]
pub(super) struct Rope;

/// Cosine and signed sine for each position, half and element of a half. The angles of the first half are negated, which
/// negates their sines only: rotated elements are `x * cosine + swapped(x) * sine`.
fn tables(b: &mut Builder<'_>, x: Value, theta: f64) -> Result<(Value, Value)> {
    let (dtype, seq, half) = (b.dtype(x), b.shape(x)[1], b.shape(x)[3] / 2);
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let shape = [seq, 2, half];
    let index = b.iota(wide, shape, 2)?;
    let exponent = b.multiply_scalar(index, -theta.ln() / half as f64)?;
    let frequency = b.exponential(exponent)?;
    let position = b.iota(wide, shape, 0)?;
    let angle = b.multiply(position, frequency)?;
    let side = b.iota(wide, shape, 1)?;
    let side = b.multiply_scalar(side, 2.0)?;
    let sign = b.add_scalar(side, -1.0)?;
    let angle = b.multiply(angle, sign)?;
    let (cosine, sine) = (b.cosine(angle)?, b.sine(angle)?);
    Ok((b.convert(cosine, dtype)?, b.convert(sine, dtype)?))
}

impl CompositeDef for Rope {
    fn name(&self) -> &str {
        "rope"
    }

    fn schema(&self) -> &[AttrSpec] {
        &*SCHEMA
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: &[&TensorType]) -> Result<Types> {
        let types = infer_unary("rope", Takes::Float, args)?;
        let x = args[0];
        if x.rank() != 4 || !x.shape()[3].is_multiple_of(2) {
            return Err(shape_error(format!(
                "`rope` takes `[batch, seq, heads, head_dim]` with an even last size, found `{x}`"
            )));
        }
        let theta = attrs.real("theta");
        if !(theta.is_finite() && theta > 0.0) {
            return Err(attr_error(format!("`theta` of `rope` is {theta}, but frequencies need a positive base")));
        }
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: &[Value]) -> Result<Values> {
        let x = args[0];
        let shape = b.shape(x).clone();
        let (cosine, sine) = tables(b, x, attrs.real("theta"))?;
        let halves = [shape[0], shape[1], shape[2], 2, shape[3] / 2];
        let x = b.reshape(x, halves)?;
        let cosine = b.broadcast_in_dim(cosine, &[1, 3, 4], halves)?;
        let sine = b.broadcast_in_dim(sine, &[1, 3, 4], halves)?;
        let swapped = b.reverse(x, &[3])?;
        let kept = b.multiply(x, cosine)?;
        let turned = b.multiply(swapped, sine)?;
        let rotated = if attrs.flag("inverse") { b.subtract(kept, turned)? } else { b.add(kept, turned)? };
        Ok(smallvec![b.reshape(rotated, shape)?])
    }

    fn has_vjp(&self) -> bool {
        true
    }

    /// A rotation is undone by the opposite one, which is also its transpose.
    fn vjp(&self, b: &mut Builder<'_>, attrs: &Attrs, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let inverse = Attr::Bool(!attrs.flag("inverse"));
        let attrs = [("theta", Attr::Real(Real(attrs.real("theta")))), ("inverse", inverse)];
        Ok(Vjp::one(b.emit(super::op(&Rope, &attrs), &[ct])?))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let rope = |theta: f64, inverse: bool| {
            super::op(&Rope, &[("theta", Attr::Real(Real(theta))), ("inverse", Attr::Bool(inverse))])
        };
        let x = || [SampleArg::uniform(float, [2, 5, 3, 4], -1.0, 1.0)];
        vec![
            Sample::new("forward", rope(10000.0, false), x()).ulps(64.0),
            Sample::new("inverse", rope(100.0, true), x()).ulps(64.0),
        ]
    }
}
