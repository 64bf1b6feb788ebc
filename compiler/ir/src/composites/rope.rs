//! `rope`.

use super::parts::sibling;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, attr_error, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

static THETA: AttrKey<f64> = AttrKey::optional("theta", 10000.0, "the base of the angular frequencies; positive");
static INVERSE: AttrKey<bool> = AttrKey::optional("inverse", false, "rotate the other way");
static FACTOR: AttrKey<f64> =
    AttrKey::refinement("factor", 1.0, "what low frequencies are divided by; positive, 1 for none");
static TRAINED: AttrKey<f64> =
    AttrKey::refinement("trained", 0.0, "positions before scaling; 0 has all frequencies divided alike");
static LOW: AttrKey<f64> =
    AttrKey::refinement("low", 1.0, "turns in `trained` positions up to which frequencies are divided");
static HIGH: AttrKey<f64> =
    AttrKey::refinement("high", 4.0, "turns in `trained` positions from which on they are kept");

described! {
    /// Rotary position embedding of `x[batch, seq, heads, head_dim]` by halves, as Hugging Face's `rotate_half`.
    ///
    /// At position `p`, elements `i` and `i + head_dim/2` are rotated as a point of the plane by the angle `p * f` with the
    /// frequency `f = theta^(-2i/head_dim)`. Angles, sines and cosines are computed in `f32`, or in `f64` for an `f64` operand,
    /// and rounded to the operand's type before they are applied.
    ///
    /// For sequences longer than those of the first training, `factor` divides frequencies. With `trained = 0` it divides all,
    /// which interpolates positions (Chen et al. 2023). Otherwise it divides those of less than `low` turns in `trained`
    /// positions, keeps those of more than `high`, and goes linearly from one to the other between (Llama 3.1).
    #[derive(Debug)]
    pub struct Rope;
}

/// The frequencies as `factor` leaves them.
fn scaled(b: &mut Builder<'_>, attrs: &Attrs, frequency: Value) -> Result<Value> {
    let (factor, trained) = (attrs.get(&FACTOR)?, attrs.get(&TRAINED)?);
    if factor == 1.0 {
        return Ok(frequency);
    }
    if trained == 0.0 {
        return b.multiply_scalar(frequency, 1.0 / factor);
    }
    let (low, high) = (attrs.get(&LOW)?, attrs.get(&HIGH)?);
    let turns = b.multiply_scalar(frequency, trained / std::f64::consts::TAU)?;
    let beyond = b.add_scalar(turns, -low)?;
    let kept = b.multiply_scalar(beyond, 1.0 / (high - low))?;
    let (zero, one) = (b.splat_like(kept, 0.0)?, b.splat_like(kept, 1.0)?);
    let kept = b.clamp(zero, kept, one)?;
    let kept = b.multiply_scalar(kept, 1.0 - 1.0 / factor)?;
    let share = b.add_scalar(kept, 1.0 / factor)?;
    b.multiply(frequency, share)
}

/// Cosine and signed sine for each position, half and element of a half. The angles of the first half are negated, which
/// negates their sines only: rotated elements are `x * cosine + swapped(x) * sine`.
fn tables(b: &mut Builder<'_>, attrs: &Attrs, x: Value) -> Result<(Value, Value)> {
    let (dtype, seq, half) = (b.dtype(x), b.shape(x)[1], b.shape(x)[3] / 2);
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let shape = [seq, 2, half];
    let index = b.iota(wide, shape, 2)?;
    let exponent = b.multiply_scalar(index, -attrs.get(&THETA)?.ln() / half as f64)?;
    let frequency = b.exponential(exponent)?;
    let frequency = scaled(b, attrs, frequency)?;
    let position = b.iota(wide, shape, 0)?;
    let angle = b.multiply(position, frequency)?;
    let side = b.iota(wide, shape, 1)?;
    let side = b.multiply_scalar(side, 2.0)?;
    let sign = b.add_scalar(side, -1.0)?;
    let angle = b.multiply(angle, sign)?;
    let (cosine, sine) = (b.cosine(angle)?, b.sine(angle)?);
    Ok((b.convert(cosine, dtype)?, b.convert(sine, dtype)?))
}

fn check_attrs(attrs: &Attrs) -> Result<()> {
    let require = |key: &AttrKey<f64>, holds: fn(f64) -> bool, why: &str| {
        let (name, value) = (key.name(), attrs.get(key)?);
        let error = || attr_error(format!("`{name}` of `rope` is {value}, but {why}"));
        if value.is_finite() && holds(value) { Ok(()) } else { Err(error()) }
    };
    require(&THETA, |theta| theta > 0.0, "frequencies need a positive base")?;
    require(&FACTOR, |factor| factor > 0.0, "frequencies are divided by a positive number")?;
    require(&TRAINED, |trained| trained >= 0.0, "there are no fewer than 0 positions")?;
    require(&LOW, |low| low >= 0.0, "there are no fewer than 0 turns")?;
    require(&HIGH, |high| high >= 0.0, "there are no fewer than 0 turns")?;
    let (low, high) = (attrs.get(&LOW)?, attrs.get(&HIGH)?);
    if low >= high {
        return Err(attr_error(format!("`low` of `rope` is {low}, not less than `high`, which is {high}")));
    }
    Ok(())
}

impl CompositeDef for Rope {
    fn name(&self) -> &str {
        "rope"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![THETA.spec(), INVERSE.spec(), FACTOR.spec(), TRAINED.spec(), LOW.spec(), HIGH.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let types = infer_unary("rope", Takes::Float, args[0])?;
        let x = args[0];
        if x.rank() != 4 || !x.shape()[3].is_multiple_of(2) {
            return Err(shape_error(format!(
                "`rope` takes `[batch, seq, heads, head_dim]` with an even last size, found `{x}`"
            )));
        }
        check_attrs(attrs)?;
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let x = args[0];
        let shape = b.shape(x).clone();
        let (cosine, sine) = tables(b, attrs, x)?;
        let halves = [shape[0], shape[1], shape[2], 2, shape[3] / 2];
        let x = b.reshape(x, halves)?;
        let cosine = b.broadcast_in_dim(cosine, &[1, 3, 4], halves)?;
        let sine = b.broadcast_in_dim(sine, &[1, 3, 4], halves)?;
        let swapped = b.reverse(x, &[3])?;
        let kept = b.multiply(x, cosine)?;
        let turned = b.multiply(swapped, sine)?;
        let rotated = if attrs.get(&INVERSE)? { b.subtract(kept, turned)? } else { b.add(kept, turned)? };
        Ok(smallvec![b.reshape(rotated, shape)?])
    }

    /// A rotation is undone by the opposite one, which is also its transpose.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let ct = present(cx.ct())?;
            let opposite = attrs.clone().with(&INVERSE, !attrs.get(&INVERSE)?)?;
            Ok(Vjp::one(b.emit(sibling(&Rope, &opposite), &[ct])?))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let rope = |theta: f64, inverse: bool| super::op(&Rope, &[THETA.to(theta), INVERSE.to(inverse)]);
        let scaled = |factor: f64, trained: f64| super::op(&Rope, &[FACTOR.to(factor), TRAINED.to(trained)]);
        let x = || [SampleArg::uniform(float, [2, 5, 3, 4], -1.0, 1.0)];
        vec![
            Sample::new("forward", rope(10000.0, false), x()).ulps(64.0),
            Sample::new("inverse", rope(100.0, true), x()).ulps(64.0),
            Sample::new("interpolated", scaled(2.0, 0.0), x()).ulps(64.0),
            Sample::new("scaled by wavelength", scaled(8.0, 16.0), x()).ulps(64.0),
        ]
    }
}
