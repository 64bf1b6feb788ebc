//! `transfer`.

use crate::attr::Attr;
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values, present};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp};
use crate::operands::{Args, Operands};
use crate::ops::Op;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use smallvec::smallvec;

/// The largest number of a part: schedules have no more.
const MOST: i64 = 1 << 20;

/// The part that made the operand.
static FROM: AttrKey<i64> = AttrKey::required("from", "the part of the model that made it");

/// The part that reads the result.
static TO: AttrKey<i64> = AttrKey::required("to", "the part of the model that reads it");

described! {
    /// Its operand, on its way from one part of a model to another: a boundary between stages of a pipeline. Its gradient goes the other way.
    ///
    /// The pass `place-stages` writes it where a model is cut. Once `split-stages` has made functions of the parts, it is gone.
    #[derive(Debug)]
    pub struct Transfer;
}

impl Transfer {
    /// The transfer of a value from one part to another.
    ///
    /// # Errors
    /// When the two do not follow one another.
    pub fn emit(b: &mut Builder<'_>, value: Value, from: usize, to: usize) -> Result<Value> {
        let attrs = [(&FROM, from), (&TO, to)].map(|(key, part)| (key.name(), Attr::Int(part as i64)));
        Ok(b.composite("transfer", &attrs, &[value])?[0])
    }

    /// The part that an instruction of this op takes its operand from, and the one that it takes it to; `None` for other ops.
    pub fn ends(op: &Op) -> Option<(usize, usize)> {
        let Op::Composite(composite) = op else { return None };
        let part = |key: &AttrKey<i64>| usize::try_from(composite.attrs.get(key).ok()?).ok();
        composite.is(&Self).then(|| Some((part(&FROM)?, part(&TO)?)))?
    }
}

impl CompositeDef for Transfer {
    fn name(&self) -> &str {
        "transfer"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![FROM.spec(), TO.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let ends = (attrs.get(&FROM)?, attrs.get(&TO)?);
        let is_part = |part: i64| (0..=MOST).contains(&part);
        if !is_part(ends.0) || !is_part(ends.1) || ends.0.abs_diff(ends.1) != 1 {
            let message =
                format!("a transfer goes from one part to the next or back, not from {} to {}", ends.0, ends.1);
            return Err(Diagnostic::error(codes::ATTRIBUTE, message).help("number the parts of the model from 0"));
        }
        Ok(smallvec![args[0].clone()])
    }

    fn expand(&self, _: &mut Builder<'_>, _: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        Ok(smallvec![args[0]])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let back = [(FROM.name(), attrs.get(&TO)?), (TO.name(), attrs.get(&FROM)?)];
            let back = back.map(|(name, part)| (name, Attr::Int(part)));
            Ok(Vjp::one(b.composite("transfer", &back, &[present(cx.ct())?])?[0]))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::STORAGE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |from, to| super::op(&Transfer, &[("from", Attr::Int(from)), ("to", Attr::Int(to))]);
        vec![
            Sample::new("forward", op(0, 1), [SampleArg::uniform(float, [2, 3], -1.0, 1.0)]),
            Sample::new("back", op(2, 1), [SampleArg::uniform(float, [4], -1.0, 1.0)]),
        ]
    }
}
