//! Rows of arrays: parts of one place along the first dimension, and all of the others.

use halite_ir::{Function, Inst, Op, TensorType};
use halite_tensor::HostTensor;

/// The known scalars of a function, by value.
pub(crate) type Known = [Option<HostTensor>];

/// The row of its first operand that an instruction reads, where it is known.
pub(crate) fn read(function: &Function, inst: &Inst, known: &Known) -> Option<usize> {
    let Op::DynamicSlice(_) = &inst.op else { return None };
    row(function.ty(inst.args[0]), function.ty(inst.results[0]), known[inst.args[1].index()].as_ref())
}

/// The row of its first operand in the place of which an instruction puts its second, where it is known.
pub(crate) fn written(function: &Function, inst: &Inst, known: &Known) -> Option<usize> {
    let Op::DynamicUpdateSlice(_) = &inst.op else { return None };
    row(function.ty(inst.args[0]), function.ty(inst.args[1]), known.get(inst.args.get(2)?.index())?.as_ref())
}

/// The row that a part is, from its start along the first dimension, which is clamped.
fn row(whole: &TensorType, part: &TensorType, start: Option<&HostTensor>) -> Option<usize> {
    let (whole, part) = (&**whole.shape(), &**part.shape());
    let (&[rows, ref rest @ ..], &[1, ref same @ ..]) = (whole, part) else { return None };
    let start = *start?.ints().first()?;
    (rest == same).then(|| usize::try_from(start.clamp(0, rows as i128 - 1)).ok()).flatten()
}
