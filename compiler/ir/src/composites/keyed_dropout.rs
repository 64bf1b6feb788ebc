//! `keyed_dropout`: `dropout` with random bits.

use super::dropout::{Dropout, RATE, rate};
use super::parts::{sibling, with_word};
use super::random_bits::bits_type;
use crate::attrs::{AttrSpec, Attrs};
use crate::build::{Builder, Values, present};
use crate::composite::{Composite, CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::class::{Takes, infer_unary};
use crate::ops::{Direction, ShiftRightLogical};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, Shape};
use smallvec::smallvec;

/// The number of random bits of an element, of its 32, that are compared. Numbers of so many bits are exact in `f32`, in which targets
/// compare.
const BITS: u32 = 24;

described! {
    /// `x / (1 - rate)` where the upper 24 random bits of an element, as a number, reach `rate * 2^24`, and zero where they do not. The
    /// bits are those of `random_bits`.
    /// The operands are `x[n0, n1, ..]` and those of `random_bits`: the word of a stream, `u32[]`, and a vector of coordinate words for
    /// each dimension, `u32[n0]`, `u32[n1]` and so on.
    ///
    /// The gradient is that of the cotangent by the same words, so that nothing of the mask need be kept. The rate is rounded to a
    /// multiple of 2^-24.
    #[derive(Debug)]
    pub(super) struct KeyedDropout;
}

impl CompositeDef for KeyedDropout {
    fn name(&self) -> &str {
        "keyed_dropout"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x", "word"]).rest("along")
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![RATE.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [x, word] = args.required()?;
        let types = infer_unary("keyed_dropout", Takes::Float, x)?;
        rate("keyed_dropout", attrs)?;
        let bits = bits_type(word, args.rest())?;
        if bits.shape() != x.shape() {
            return Err(shape_error(format!("`keyed_dropout` of `{x}` has random bits `{bits}`"))
                .help("give one vector of coordinate words for each dimension"));
        }
        Ok(types)
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let rate = rate("keyed_dropout", attrs)?;
        let [x, word] = args.required()?;
        let bits = b.composite("random_bits", &[], &[&[word], args.rest()].concat())?[0];
        let number = with_word(b, ShiftRightLogical, bits, 32 - BITS)?;
        let threshold = b.splat_like(number, (rate * f64::from(1 << BITS)).round())?;
        let keep = b.compare(number, threshold, Direction::Ge)?;
        let scaled = b.multiply_scalar(x, 1.0 / (1.0 - rate))?;
        let zero = b.splat_like(scaled, 0.0)?;
        Ok(smallvec![b.select(keep, scaled, zero)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let [_, word] = cx.args.required()?;
            let args = [&[present(cx.ct())?, word], cx.args.rest()].concat();
            let ct = b.emit(sibling(&KeyedDropout, attrs), &args)?;
            Ok(cx.cotangents([Some(ct)], &[]))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let sample = |label, rate: f64, sizes: &[usize]| {
            let words = |shape: Shape| SampleArg::whole(DType::U32, shape, 0, i64::from(u32::MAX));
            let x = SampleArg::uniform(float, sizes, -2.0, 2.0);
            let along = sizes.iter().map(|&size| words([size].into()));
            let args: Vec<_> = [x, words(Shape::scalar())].into_iter().chain(along).collect();
            Sample::new(label, super::op(&KeyedDropout, &[RATE.to(rate)]), args)
        };
        vec![
            sample("tenth", 0.1, &[3, 4]),
            sample("most", 0.9, &[2, 3, 2]),
            sample("none", 0.0, &[5]),
            sample("scalar", 0.5, &[]),
        ]
    }
}

impl Composite {
    /// The same dropout of an operand that has random bits; `None` for any other composite.
    pub fn keyed_dropout(&self) -> Option<Self> {
        self.is(&Dropout).then(|| sibling(&KeyedDropout, &self.attrs))
    }
}
