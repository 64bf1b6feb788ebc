//! Instructions that round.

use crate::attr::{Attr, AttrSlot, AttrVisitor, ResultSlot};
use crate::composite::Composite;
use crate::infer::InferCx;
use crate::ops::Op;
use crate::policy::{Follows, OpClass, loses};
use crate::ty::TensorType;
use halite_tensor::DType;

/// Whether an instruction rounds a float result to a type narrower than the one it computes in, so that it has a
/// [`Rounding`](crate::Rounding).
pub fn narrows(cx: &InferCx<'_>, op: &Op, args: &[&TensorType], results: &[TensorType]) -> bool {
    let mut floats = results.iter().map(TensorType::dtype).filter(|dtype| dtype.is_float());
    // Nothing computes in more than `f64`, and only conversions leave that for `f32`.
    let possible = |dtype: DType| dtype.is_narrow() || matches!(op, Op::Convert(_));
    // Callees round for themselves; integer ops make floats out of bits; a barrier hands on what it gets.
    let hands_on = op.callee().is_some() || matches!(op, Op::OptimizationBarrier(_));
    let computes = || !hands_on && op.def().policy(cx).class != OpClass::Integer;
    if !floats.clone().any(possible) || !computes() {
        return false;
    }
    compute_dtype(cx, op, args).is_some_and(|compute| floats.any(|dtype| loses(compute, dtype)))
}

/// The float type in which an instruction computes; `None` when no float goes in.
pub(crate) fn compute_dtype(cx: &InferCx<'_>, op: &Op, args: &[&TensorType]) -> Option<DType> {
    if let Op::Composite(Composite { attrs, .. }) = op
        && let Some(compute) = attrs.compute()
    {
        return Some(compute);
    }
    let floats = args.iter().map(|ty| ty.dtype()).filter(|dtype| dtype.is_float());
    let widest = floats.max_by_key(|dtype| dtype.size())?;
    match op.def().policy(cx).compute {
        Follows::Own | Follows::Widest => Some(widest),
        _ => Some(engine(widest)),
    }
}

/// The type in which engines compute on operands of type `dtype`; see [`Follows::Engine`].
pub fn engine(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// The op computing into the type of its engine instead of a narrower result: what is left is one narrowing.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Widened {
    /// The op, its attributes such that it sums in that type where it says what it sums in.
    pub op: Op,
    /// Whether float operands must be converted to the type of the engine first.
    pub converts_operands: bool,
}

/// Splits an instruction that narrows into two steps: computing wide, then one convert. `None` for a convert, which is that second step
/// itself.
pub fn widened(op: &Op, engine: DType) -> Option<Widened> {
    if matches!(op, Op::Convert(_)) {
        return None;
    }
    let mut op = op.clone();
    if let Op::Composite(composite) = &mut op {
        let converts_operands = !composite.attrs.widen_results(engine);
        return Some(Widened { op, converts_operands });
    }
    let mut sums = SetAccumulate { dtype: engine, found: false };
    op.def_mut().attrs(&mut sums);
    Some(Widened { op, converts_operands: !sums.found })
}

/// Sets the type in which an op accumulates, if it has such an attribute.
pub fn set_accumulate(op: &mut Op, dtype: DType) {
    op.def_mut().attrs(&mut SetAccumulate { dtype, found: false });
}

/// Sets the attribute `accumulate` of ops that have one.
struct SetAccumulate {
    dtype: DType,
    found: bool,
}

impl AttrVisitor for SetAccumulate {
    fn attr(&mut self, name: &str, slot: &mut dyn AttrSlot) {
        if name == "accumulate" {
            self.found = slot.set(&Attr::Word(self.dtype.name().into())).is_ok();
        }
    }

    fn result(&mut self, _: usize, _: ResultSlot<'_>) {}
}
