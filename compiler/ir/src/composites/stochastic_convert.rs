//! `stochastic_convert`.

use super::parts::with_word;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, attr_error, dtype_error, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::{And, Direction, Or, ShiftLeft, ShiftRightLogical, Xor};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;
use std::borrow::Cow;

static DTYPE: AttrKey<Cow<'static, str>> =
    AttrKey::optional("dtype", Cow::Borrowed("bf16"), "`bf16` or `f16`, the type of the result");

described! {
    /// `x f32` rounded stochastically by `bits u32` of the same shape to `dtype`, `bf16` or `f16`. The name is XLA's.
    ///
    /// The meaning is [`halite_tensor::rounding::stochastic`]: values of `dtype`, infinities and NaN stay. Both forms end
    /// with a `convert` that is exact, so nothing is 16 bits wide. Each element costs 10 instructions for `bf16` and 21 for
    /// `f16`, bitcasts not counted.
    ///
    /// CPU XLA flushes subnormal `f32` in arithmetic and comparisons, but not in bitcasts and conversions, `f16` and `bf16`
    /// results included. Neither form notices: that of `bf16` handles subnormals as bits only, that of `f16` as numbers so
    /// small that they become zero. A NaN keeps its sign; CPU XLA drops its payload on the way to `bf16`.
    #[derive(Debug)]
    pub(super) struct StochasticConvert;
}

fn target(attrs: &Attrs) -> Result<DType> {
    let word = attrs.get(&DTYPE)?;
    let dtype = DType::parse(&word).filter(|dtype| dtype.is_narrow());
    dtype.ok_or_else(|| attr_error(format!("`stochastic_convert` gives `bf16` or `f16`, found `{word}`")))
}

/// `x` rounded to the upper 16 bits of its pattern. The lower half and 16 random bits are added; the carry moves the
/// upper half to its neighbour, across exponents and to infinity alike. Only a NaN could be carried to another number,
/// and comparing `x` with itself finds it. Both sums are below 2^17.
fn round_to_bf16(b: &mut Builder<'_>, x: Value, random: Value) -> Result<Value> {
    let pattern = b.bitcast_convert(x, DType::U32)?;
    let lower = with_word(b, And, pattern, 0xffff)?;
    let random = with_word(b, ShiftRightLogical, random, 16)?;
    let sum = b.add(lower, random)?;
    let carry = with_word(b, ShiftRightLogical, sum, 16)?;
    let upper = with_word(b, ShiftRightLogical, pattern, 16)?;
    let upper = b.add(upper, carry)?;
    let rounded = with_word(b, ShiftLeft, upper, 16)?;
    let rounded = b.bitcast_convert(rounded, DType::F32)?;
    let is_nan = b.compare(x, x, Direction::Ne)?;
    b.select(is_nan, x, rounded)
}

/// `x` rounded to a multiple of the gap between its neighbours in `f16`, at least 2^-24.
///
/// Counted in gaps, a magnitude below 2^16 is `below + fraction` with `below < 2^11`, and it moves away from zero when
/// `fraction` reaches `threshold`, one of the multiples of 2^-23 in `(0, 1]`. All of this is exact in `f32`: the
/// factors are powers of two, the fraction has no more bits than the magnitude, and the threshold at most 23. A
/// subnormal operand may be flushed to zero: it is less than 2^-100 of a gap and becomes zero anyway. Larger magnitudes
/// and NaN are left to `convert`, which makes infinity and NaN of them.
fn round_to_f16(b: &mut Builder<'_>, x: Value, random: Value) -> Result<Value> {
    let magnitude = b.abs(x)?;
    let (gap2, per_gap) = gap_in_f16(b, magnitude)?;
    let gaps = b.multiply(magnitude, per_gap)?;
    let below = b.floor(gaps)?;
    let fraction = b.subtract(gaps, below)?;
    let threshold = threshold(b, random)?;
    let away = b.compare(fraction, threshold, Direction::Ge)?;
    let away = b.convert(away, DType::F32)?;
    let rounded = b.add(below, away)?;
    let rounded = b.multiply_scalar(rounded, 0.5)?;
    let rounded = b.multiply(rounded, gap2)?;
    let rounded = with_sign_of(b, x, rounded)?;
    let end = b.splat_like(x, 65536.0)?;
    let in_range = b.compare(magnitude, end, Direction::Lt)?;
    b.select(in_range, rounded, x)
}

/// Twice the gap between the neighbours of a magnitude in `f16`, and the gap's inverse. Both are powers of two: the
/// exponent field `e` of the first is that of the magnitude times 2^-9, as a gap is 2^-10 of the power below, and the
/// complement `255 - e` means `2^(128 - e)`, which is twice the inverse of `2^(e - 127)`.
fn gap_in_f16(b: &mut Builder<'_>, magnitude: Value) -> Result<(Value, Value)> {
    const EXPONENT: u32 = 0x7f80_0000;
    let scaled = b.multiply_scalar(magnitude, 2f64.powi(-9))?;
    let least = b.splat_like(scaled, 2f64.powi(-23))?;
    let scaled = b.maximum(scaled, least)?;
    let pattern = b.bitcast_convert(scaled, DType::U32)?;
    let power = with_word(b, And, pattern, EXPONENT)?;
    let inverse = with_word(b, Xor, power, EXPONENT)?;
    Ok((b.bitcast_convert(power, DType::F32)?, b.bitcast_convert(inverse, DType::F32)?))
}

/// Uniform in `(0, 1]`: 2 less a number in `[1, 2)` whose significand is random.
fn threshold(b: &mut Builder<'_>, random: Value) -> Result<Value> {
    let significand = with_word(b, ShiftRightLogical, random, 9)?;
    let pattern = with_word(b, Or, significand, 0x3f80_0000)?;
    let number = b.bitcast_convert(pattern, DType::F32)?;
    b.subtract_from(2.0, number)
}

/// `magnitude` with the sign bit of `x`.
fn with_sign_of(b: &mut Builder<'_>, x: Value, magnitude: Value) -> Result<Value> {
    let pattern = b.bitcast_convert(x, DType::U32)?;
    let sign = with_word(b, And, pattern, 0x8000_0000)?;
    let magnitude = b.bitcast_convert(magnitude, DType::U32)?;
    let signed = b.or(magnitude, sign)?;
    b.bitcast_convert(signed, DType::F32)
}

impl CompositeDef for StochasticConvert {
    fn name(&self) -> &str {
        "stochastic_convert"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "bits"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![DTYPE.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, bits] = args.required()?;
        for (found, dtype, expected) in [(x, DType::F32, "`x` in `f32`"), (bits, DType::U32, "`bits` in `u32`")] {
            if found.dtype() != dtype {
                return Err(dtype_error("stochastic_convert", expected, found));
            }
        }
        if x.shape() != bits.shape() {
            return Err(shape_error(format!("`stochastic_convert` of `{x}` has random bits `{bits}`"))
                .help("give as many random words as there are elements"));
        }
        Ok(smallvec![x.with_dtype(target(attrs)?)])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let dtype = target(attrs)?;
        let round = if dtype == DType::Bf16 { round_to_bf16 } else { round_to_f16 };
        let rounded = round(b, args[0], args[1])?;
        Ok(smallvec![b.convert(rounded, dtype)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|_, _, _| Ok(Vjp::none("rounding is settled after differentiation"))))
    }

    fn policy(&self) -> Policy {
        Policy::INTEGER
    }

    fn samples(&self, _: DType) -> Vec<Sample> {
        let special = [0.0, -0.0, 1.0, 65504.0, -65519.0, 65536.0, 1e9, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let sample = |label, dtype: DType, x: SampleArg| {
            let bits = SampleArg::whole(DType::U32, x.ty.shape().clone(), 0, i64::from(u32::MAX));
            Sample::new(label, super::op(&StochasticConvert, &[DTYPE.to(dtype.name().into())]), [x, bits])
        };
        let x = |low, high| SampleArg::uniform(DType::F32, [4, 9], low, high);
        vec![
            sample("bf16", DType::Bf16, x(-4.0, 4.0)),
            sample("f16", DType::F16, x(-4.0, 4.0)),
            sample("special bf16", DType::Bf16, SampleArg::listed(DType::F32, [10], &special)),
            sample("special f16", DType::F16, SampleArg::listed(DType::F32, [10], &special)),
            sample("subnormal f16", DType::F16, x(-6e-5, 6e-5)),
            sample("scalar", DType::Bf16, SampleArg::uniform(DType::F32, [], -4.0, 4.0)),
        ]
    }
}
