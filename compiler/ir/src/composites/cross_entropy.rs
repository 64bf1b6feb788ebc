//! `cross_entropy` and its gradient.

use super::log_softmax::{LogSoftmaxParts, log_softmax_parts};
use super::parts::{last_size, sibling, spread_last};
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values};
use crate::composite::{CompositeDef, VjpRule};
use crate::described;
use crate::domain::Domain;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, Vjp, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::ops::class::{Takes, require_elements};
use crate::ops::indices::require_indices;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor};
use smallvec::smallvec;

static IGNORE_INDEX: AttrKey<i64> = AttrKey::optional("ignore_index", -100, "the label that counts for nothing");

described! {
    /// The sum of `-log softmax(logits)[label]` over all labels but the ignored ones, and how many these are.
    ///
    /// `logits[..., vocab]` and `labels s32[...]`; both results are scalars of the logits' type. A label is the ignored one
    /// or in `0..vocab`. When all are ignored both results are 0.
    #[derive(Debug)]
    pub struct CrossEntropy;
}

fn check(op: &str, logits: &TensorType, labels: &TensorType) -> Result<()> {
    require_elements(op, Takes::Float, logits)?;
    last_size(op, logits)?;
    require_indices(op, logits, logits.rank() - 1, labels)?;
    if labels.shape()[..] != logits.shape()[..logits.rank() - 1] {
        return Err(shape_error(format!("labels of `{labels}` do not fit logits of `{logits}`"))
            .help("labels have the dimensions of the logits but the last"));
    }
    Ok(())
}

/// A label for every element of the type of `like`.
fn label_like(b: &mut Builder<'_>, like: Value, label: i64) -> Result<Value> {
    let shape = b.shape(like).clone();
    let scalar = b.constant(HostTensor::from_ints(DType::S32, [], [i128::from(label)]))?;
    b.broadcast_in_dim(scalar, &[], shape)
}

/// The mask of the labels that count: those other than `ignore_index`.
fn counted(b: &mut Builder<'_>, attrs: &Attrs, labels: Value) -> Result<Value> {
    let ignored = label_like(b, labels, attrs.get(&IGNORE_INDEX)?)?;
    b.compare(labels, ignored, Direction::Ne)
}

/// The sum of all elements.
fn sum_all(b: &mut Builder<'_>, x: Value) -> Result<Value> {
    let dims: Dims = (0..b.shape(x).rank()).collect();
    b.reduce_sum(x, &dims)
}

/// The element of each row of `x` that `labels` names.
fn pick(b: &mut Builder<'_>, x: Value, labels: Value) -> Result<Value> {
    let rows = b.shape(labels).clone();
    let column = rows.iter().copied().chain([1]).collect::<halite_tensor::Shape>();
    let labels = b.reshape(labels, column)?;
    let picked = b.take_along_axis(x, labels, rows.rank())?;
    b.reshape(picked, rows)
}

impl CompositeDef for CrossEntropy {
    fn name(&self) -> &str {
        "cross_entropy"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["logits", "labels"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![IGNORE_INDEX.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [logits, labels] = args.required()?;
        check("cross_entropy", logits, labels)?;
        let scalar = TensorType::scalar(logits.dtype());
        Ok(smallvec![scalar.clone(), scalar])
    }

    /// Ignored labels look up class 0, so that every look-up is in range. Look-ups read the logits, not the shifted ones,
    /// which then need not be stored.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [logits, labels] = args.required()?;
        let last = b.shape(logits).rank() - 1;
        let LogSoftmaxParts { peak, log_total, .. } = log_softmax_parts(b, logits, last)?;
        let counted = counted(b, attrs, labels)?;
        let first = label_like(b, labels, 0)?;
        let classes = b.select(counted, labels, first)?;
        let picked = pick(b, logits, classes)?;
        let picked = b.subtract(picked, peak)?;
        let losses = b.subtract(log_total, picked)?;
        let zero = b.splat_like(losses, 0.0)?;
        let losses = b.select(counted, losses, zero)?;
        let ones = b.convert(counted, b.dtype(logits))?;
        Ok(smallvec![sum_all(b, losses)?, sum_all(b, ones)?])
    }

    /// The count does not depend on the logits.
    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let Some(ct) = cx.cts[0] else { return Ok(Vjp::zeros(2)) };
            let logits_ct = b.emit(sibling(&CrossEntropyGrad, attrs), &[cx.args[0], cx.args[1], ct])?;
            Ok(Vjp::of([Some(logits_ct), None]))
        }))
    }

    /// Labels name classes, or are the ignored one.
    fn domains(&self, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Vec<Domain>> {
        let size = args[0].shape().last().copied().unwrap_or(0);
        Ok(vec![Domain { operand: 1, size, except: Some(attrs.get(&IGNORE_INDEX)?) }])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let loss = |ignore: i64| super::op(&CrossEntropy, &[IGNORE_INDEX.to(ignore)]);
        let logits = || SampleArg::uniform(float, [2, 3, 5], -3.0, 3.0);
        let labels = |values: &[f64]| SampleArg::listed(DType::S32, [2, 3], values);
        vec![
            Sample::new("all", loss(-100), [logits(), SampleArg::whole(DType::S32, [2, 3], 0, 4)]).ulps(32.0),
            Sample::new("some", loss(-100), [logits(), labels(&[0.0, -100.0, 4.0, 2.0, -100.0, 1.0])]).ulps(32.0),
            Sample::new("none", loss(-100), [logits(), labels(&[-100.0])]),
            Sample::new("pad is a class", loss(0), [logits(), labels(&[0.0, 3.0, 1.0])]).ulps(32.0),
        ]
    }
}

described! {
    /// The gradient of the sum of `cross_entropy` by `logits` from `logits`, `labels` and the cotangent of the sum:
    /// `ct * (softmax(logits) - one_hot(label))` where the label counts, else 0.
    #[derive(Debug)]
    pub(super) struct CrossEntropyGrad;
}

impl CompositeDef for CrossEntropyGrad {
    fn name(&self) -> &str {
        "cross_entropy_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["logits", "labels", "ct"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![IGNORE_INDEX.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let [logits, labels, ct] = args.required()?;
        check("cross_entropy_grad", logits, labels)?;
        let scalar = TensorType::scalar(logits.dtype());
        if ct != &scalar {
            return Err(shape_error(format!("the cotangent of `cross_entropy_grad` is `{scalar}`, found `{ct}`")));
        }
        Ok(smallvec![logits.clone()])
    }

    /// The probabilities are computed from the row statistics: saving the exponentials of the forward pass instead would
    /// keep a second tensor of the size of the logits.
    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [logits, labels, ct] = args.required()?;
        let shape = b.shape(logits).clone();
        let last = shape.rank() - 1;
        let LogSoftmaxParts { shifted, log_total, .. } = log_softmax_parts(b, logits, last)?;
        let log_total = spread_last(b, log_total, logits)?;
        let log_probabilities = b.subtract(shifted, log_total)?;
        let probabilities = b.exponential(log_probabilities)?;
        let counted = counted(b, attrs, labels)?;
        let ct = b.broadcast_in_dim(ct, &[], b.shape(labels).clone())?;
        let zero = b.splat_like(ct, 0.0)?;
        let ct = b.select(counted, ct, zero)?;
        let ct = spread_last(b, ct, logits)?;
        let class = b.iota(DType::S32, shape, last)?;
        let label = spread_last(b, labels, logits)?;
        let hit = b.compare(class, label, Direction::Eq)?;
        let lowered = b.add_scalar(probabilities, -1.0)?;
        let slope = b.select(hit, lowered, probabilities)?;
        Ok(smallvec![b.multiply(slope, ct)?])
    }

    fn policy(&self) -> Policy {
        Policy::SENSITIVE
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let labels = SampleArg::listed(DType::S32, [2, 3], &[0.0, -100.0, 4.0, 2.0, -100.0, 1.0]);
        let args = [SampleArg::uniform(float, [2, 3, 5], -3.0, 3.0), labels, SampleArg::uniform(float, [], 0.5, 2.0)];
        vec![Sample::new("some", super::op(&CrossEntropyGrad, &[]), args).ulps(32.0)]
    }
}
