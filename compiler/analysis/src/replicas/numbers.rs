//! The numbers that results of instructions are, and the elements for which masks hold.

use super::held::{Base, Held};
use super::mask::equal;
use super::number::{Index, Number};
use super::state::State;
use halite_ir::ops::Direction;
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
        Op::Add(_) => of(0)?.plus(of(1)?)?,
        Op::Subtract(_) => of(0)?.minus(of(1)?)?,
        Op::Multiply(_) => of(0)?.times(of(1)?)?,
        Op::Divide(_) => of(0)?.divided(of(1)?)?.0,
        Op::Remainder(_) => of(0)?.divided(of(1)?)?.1,
        Op::And(_) if ty.dtype() == DType::Pred => of(0)?.both(of(1)?)?,
        Op::Compare(op) => of(0)?.compared(of(1)?, op.direction)?,
        Op::Clamp(_) => clamped(inst, args, walk)?,
        Op::DynamicSlice(_) => listed(function, inst, args)?,
        op => rank(mesh, op)?,
    };
    let wraps = ty.dtype().is_unsigned_int() && number.ranks.ends().0 < 0;
    (!wraps).then_some(number)
}

/// An element of a list that a constant is, at the number that each rank has.
fn listed(function: &Function, inst: &Inst, args: &[State]) -> Option<Number> {
    let [list, at] = inst.args[..] else { return None };
    let Op::Constant(constant) = &function.def(list)?.op else { return None };
    let one = function.ty(inst.results[0]).shape().num_elements() == 1;
    let values: Vec<i64> = constant.value.ints().into_iter().map(i64::try_from).collect::<Result<_, _>>().ok()?;
    let last = i64::try_from(values.len()).ok()?.checked_sub(1)?;
    let element = |rank: i64| values.get(usize::try_from(rank.clamp(0, last)).ok()?).copied();
    let number = args[1].number.as_ref().filter(|_| one && function.ty(at).rank() == 0)?;
    Some(Number::of(Vec::new(), number.of_ranks()?.map(element)?))
}

/// A value between 0 and a constant counts as an index.
fn clamped(inst: &Inst, args: &[State], walk: usize) -> Option<Number> {
    let of = |at: usize| args[at].number.as_ref()?.as_constant();
    let (least, most) = (of(0)?, of(2)?);
    let inside =
        |number: &&Rc<Number>| number.of_ranks().is_some_and(|all| least <= all.ends().0 && all.ends().1 <= most);
    if let Some(number) = args[1].number.as_ref().filter(inside) {
        return Some(Number::clone(number));
    }
    let size = usize::try_from(of(2)?.checked_add(1)?).ok().filter(|_| of(0) == Some(0))?;
    Some(Number::index(Index::Of(Base { walk, value: inst.args[1], size }), size))
}

/// The elements for which the result of an instruction holds, if it is a known mask.
pub(super) fn mask(mesh: &Mesh, inst: &Inst, args: &[State]) -> Option<Vec<Held>> {
    let of = |at: usize| args[at].mask.as_deref();
    match &inst.op {
        Op::Compare(op) if op.direction == Direction::Eq => {
            let (x, y) = (args[0].number.as_ref()?, args[1].number.as_ref()?);
            Some(vec![equal(mesh, x, y)?])
        }
        Op::And(_) => Some([of(0)?, of(1)?].concat()),
        Op::BroadcastInDim(_) | Op::Reshape(_) => Some(of(0)?.to_vec()),
        _ => None,
    }
}
