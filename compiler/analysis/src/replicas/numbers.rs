//! The numbers that results of instructions are, and the elements for which masks hold.

use super::held::{Base, Condition, Source};
use super::mask;
use super::number::{Index, Number};
use super::state::State;
use halite_ir::ops::Reduction;
use halite_ir::{Function, Inst, Op};
use halite_tensor::{DType, Mesh};
use std::rc::Rc;

/// The number of the rank, where an instruction gives it.
fn rank(mesh: &Mesh, op: &Op) -> Option<Number> {
    matches!(op, Op::ReplicaId(_)).then(|| Number::rank(mesh))
}

/// The numbers of the only result of an instruction, if they are known; `walk` is the number of the walk over its function.
pub(super) fn number(mesh: &Mesh, function: &Function, inst: &Inst, args: &[State], walk: usize) -> Option<Number> {
    let ty = function.ty(inst.results[0]);
    if !(ty.dtype().is_int() || ty.dtype() == DType::Pred) {
        return None;
    }
    let of = |at: usize| args.get(at).and_then(|state| state.number.as_deref());
    let source = |at: usize| Source::new(walk, inst.args[at], &args[at], mesh.sub_axes().len());
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
        Op::Compare(op) => of(0)?.compared(of(1)?, op.direction)?,
        Op::Select(_) => of(0)?.chosen(of(1)?, of(2)?)?,
        Op::Minimum(_) => of(0)?.least(of(1)?)?,
        Op::Maximum(_) => of(0)?.greatest(of(1)?)?,
        Op::Reduce(op) if op.kind != Reduction::Sum => Number::constant(of(0)?.as_constant()?),
        Op::Clamp(_) => clamped(mesh, source(1), args)?,
        Op::DynamicSlice(_) => listed(function, inst, args)?,
        op => rank(mesh, op)?,
    };
    let wraps = ty.dtype().is_unsigned_int() && number.ranks.ends().0 < 0;
    (!wraps).then_some(number)
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

/// The elements for which the result of an instruction holds, if it is a known mask; `walk` is the number of the walk over its function.
pub(super) fn mask(mesh: &Mesh, inst: &Inst, args: &[State], walk: usize) -> Option<Vec<Condition>> {
    let of = |at: usize| args[at].mask.as_deref();
    match &inst.op {
        Op::Compare(op) => {
            let known = |at: usize| args[at].number.as_deref().cloned();
            let source = |at: usize| Source::new(walk, inst.args[at], &args[at], mesh.sub_axes().len());
            let some = |at: usize| known(at).unwrap_or_else(|| Number::unknown(source(at)));
            known(0)
                .or(known(1))
                .and_then(|_| mask::compared(mesh, &some(0), &some(1), op.direction))
                .map(|condition| vec![condition])
        }
        Op::And(_) => Some(mask::both(mesh, &[of(0)?, of(1)?].concat())),
        Op::BroadcastInDim(_) | Op::Reshape(_) => Some(of(0)?.to_vec()),
        _ => None,
    }
}
