//! The numbers that results of instructions are, and the elements for which masks hold.

use super::held::{Base, Mask, Source};
use super::mask;
use super::number::{Index, Number};
use super::state::State;
use halite_ir::ops::Reduction;
use halite_ir::{Function, Inst, Op};
use halite_tensor::{DType, Mesh, SubAxisId};
use std::rc::Rc;

/// The number of the rank, where an instruction gives it.
fn rank(mesh: &Mesh, op: &Op) -> Option<Number> {
    matches!(op, Op::ReplicaId(_)).then(|| Number::rank(mesh))
}

/// An operand of an instruction.
fn source(mesh: &Mesh, inst: &Inst, args: &[State], at: usize, walk: usize) -> Source {
    let is_same = |sub_axis: SubAxisId| args[at].readings.iter().all(|reading| reading.is_same_along(sub_axis));
    Source::new(walk, inst.args[at], mesh.sub_axes().len(), is_same)
}

/// The numbers of the only result of an instruction, if they are known; `walk` is the number of the walk over its function.
pub(super) fn number(mesh: &Mesh, function: &Function, inst: &Inst, args: &[State], walk: usize) -> Option<Number> {
    let ty = function.ty(inst.results[0]);
    if !(ty.dtype().is_int() || ty.dtype() == DType::Pred) {
        return None;
    }
    let of = |at: usize| args.get(at).and_then(|state| state.number.as_deref());
    let source = |at: usize| source(mesh, inst, args, at, walk);
    let some = |at: usize| of(at).cloned().unwrap_or_else(|| Number::unknown(source(at)));
    let number = match &inst.op {
        Op::Constant(constant) => {
            let value = constant.splat_value().filter(|value| value.fract() == 0.0 && value.abs() < 2_f64.powi(53));
            Number::constant(value? as i64)
        }
        Op::Iota(iota) => Number::index(Index::Dim(iota.dim), ty.shape()[iota.dim]),
        Op::Convert(_) => of(0)?.clone(),
        Op::BroadcastInDim(op) => of(0)?.moved(|dim| op.dims.get(dim).copied())?,
        Op::Reshape(_) => of(0)?.moved(|_| None)?,
        Op::Transpose(op) => of(0)?.moved(|dim| op.permutation.iter().position(|&from| from == dim))?,
        Op::Add(_) if of(0).or(of(1)).is_some() => some(0).plus(&some(1))?,
        Op::Subtract(_) => some(0).minus(of(1)?)?,
        Op::Multiply(_) => of(0)?.times(of(1)?)?,
        Op::Divide(_) => of(0)?.divided(of(1)?)?.0,
        Op::Remainder(_) => of(0)?.divided(of(1)?)?.1,
        Op::And(_) if ty.dtype() == DType::Pred => of(0)?.both(of(1)?)?,
        Op::Or(_) if ty.dtype() == DType::Pred => of(0)?.negation()?.both(&of(1)?.negation()?)?.negation()?,
        Op::Not(_) if ty.dtype() == DType::Pred => of(0)?.negation()?,
        Op::Compare(op) => of(0)?.compared(of(1)?, op.direction)?,
        Op::Select(_) => chosen(mesh, args)?,
        Op::Minimum(_) => of(0)?.least(of(1)?)?,
        Op::Maximum(_) => of(0)?.greatest(of(1)?)?,
        Op::Reduce(op) if op.kind != Reduction::Sum => Number::constant(of(0)?.as_constant()?),
        Op::Clamp(_) => clamped(mesh, source(1), args)?,
        Op::DynamicSlice(_) => listed(function, inst, args)?,
        op => rank(mesh, op)?,
    };
    is_exact(function, inst, &number).then_some(number)
}

/// Whether the type of the result holds all of its numbers. What nothing is known of may wrap, as numbers of ranks that are taken from
/// it and compared with others do alike, but for a conversion to fewer bits.
fn is_exact(function: &Function, inst: &Inst, number: &Number) -> bool {
    let dtype = function.ty(inst.results[0]).dtype();
    if number.unknown.is_some() {
        return !matches!(inst.op, Op::Convert(_)) || dtype.bits() >= function.ty(inst.args[0]).dtype().bits();
    }
    let (Some((least, most)), Some((low, high))) = (number.ends(), dtype.int_range()) else { return false };
    low <= i128::from(least) && i128::from(most) <= high
}

/// The longest list that is kept: one element for each rank of a large mesh.
const MAX_LISTED: usize = 1 << 16;

/// The elements of a list of whole numbers, where an instruction gives one.
pub(super) fn list(inst: &Inst) -> Option<Rc<[i64]>> {
    let Op::Constant(constant) = &inst.op else { return None };
    let is_list = constant.value.shape().rank() == 1 && constant.value.shape().num_elements() <= MAX_LISTED;
    (is_list && constant.value.dtype().is_int())
        .then(|| constant.value.ints().into_iter().map(|value| i64::try_from(value).ok()).collect())?
}

/// An element of a list, at the number that each rank has. All are the same in a list of one number.
fn listed(function: &Function, inst: &Inst, args: &[State]) -> Option<Number> {
    let [list, at] = args else { return None };
    if let Some(same) = list.number.as_ref().and_then(|number| number.as_constant()) {
        return Some(Number::constant(same));
    }
    let (values, one) = (list.list.as_ref()?, function.ty(inst.results[0]).shape().num_elements() == 1);
    let last = i64::try_from(values.len()).ok()?.checked_sub(1)?;
    let element = |rank: i64| values.get(usize::try_from(rank.clamp(0, last)).ok()?).copied();
    let number = at.number.as_ref().filter(|_| one && function.ty(inst.args[1]).rank() == 0)?;
    Some(Number::of(Vec::new(), number.of_ranks()?.map(element)?))
}

/// A value between two constants: what it was where these change nothing, the place in the rank's shard where they are the ends of it,
/// and an index where the first is 0.
fn clamped(mesh: &Mesh, source: Source, args: &[State]) -> Option<Number> {
    let of = |at: usize| args[at].number.as_ref()?.as_constant();
    let (least, most) = (of(0)?, of(2)?);
    let number = args[1].number.as_deref();
    let inside = |number: &&Number| number.ends().is_some_and(|ends| least <= ends.0 && ends.1 <= most);
    if let Some(number) = number.filter(inside) {
        return Some(number.clone());
    }
    let size = usize::try_from(most.checked_add(1)?).ok().filter(|_| least == 0)?;
    let index = match number.and_then(|number| mask::place(mesh, number, size)) {
        Some((base, sub_axis)) => Index::Within(base, sub_axis),
        None => Index::Of(Base { source, size }),
    };
    Some(Number::index(index, size))
}

/// One of two numbers for each element. Where a mask holds on the rank of which the number is the place within the shard, and it is
/// some place elsewhere, it is that place.
fn chosen(mesh: &Mesh, args: &[State]) -> Option<Number> {
    let [choice, x, y] = args else { return None };
    let (x, y) = (x.number.as_deref()?, y.number.as_deref()?);
    if let Some(number) = choice.number.as_ref().and_then(|number| number.chosen(x, y)) {
        return Some(number);
    }
    let mask = choice.mask.as_deref()?;
    let (mask, own, other) = if mask.negated { (&mask.negation(), y, x) } else { (mask, x, y) };
    let [held] = mask.held()[..] else { return None };
    let size = held.digit.stride;
    let fits = mask::place(mesh, own, size) == Some((held.base, held.digit.sub_axis));
    let (least, most) = other.ends().filter(|_| fits)?;
    let inside = 0 <= least && usize::try_from(most).is_ok_and(|most| most < size);
    inside.then(|| Number::index(Index::Within(held.base, held.digit.sub_axis), size))
}

/// The elements for which the result of an instruction holds, if it is a known mask; `walk` is the number of the walk over its function.
pub(super) fn mask(mesh: &Mesh, function: &Function, inst: &Inst, args: &[State], walk: usize) -> Option<Mask> {
    let of = |at: usize| args.get(at).and_then(|state| state.mask.as_deref());
    match &inst.op {
        Op::Compare(op) => {
            let known = |at: usize| args[at].number.as_deref().cloned();
            let source = |at: usize| source(mesh, inst, args, at, walk);
            let some = |at: usize| known(at).unwrap_or_else(|| Number::unknown(source(at)));
            known(0).or(known(1)).and_then(|_| mask::compared(mesh, &some(0), &some(1), op.direction))
        }
        Op::And(_) => mask::both(mesh, of(0)?, of(1)?),
        Op::Or(_) => Some(mask::both(mesh, &of(0)?.negation(), &of(1)?.negation())?.negation()),
        Op::Not(_) if function.ty(inst.results[0]).dtype() == DType::Pred => Some(of(0)?.negation()),
        Op::Reduce(op) => {
            let shape = function.ty(inst.args[0]).shape();
            op.dims.iter().all(|&dim| shape[dim] == 1).then(|| of(0).cloned())?
        }
        // Zero and one, of a number that elements are multiplied by.
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Convert(_) => of(0).cloned(),
        _ => None,
    }
}
