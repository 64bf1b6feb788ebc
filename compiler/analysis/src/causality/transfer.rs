//! Transfer functions, one for each kind of op: the states of an instruction's results, given those of its operands.

mod choice;
mod contraction;
mod elementwise;
mod growth;
mod indexing;
mod movement;
mod rows;

use super::affine::{Affine, Digit};
use super::assumption::{Assumption, Assumptions};
use super::levels::round;
use super::literal::literal;
use super::space::Space;
use super::state::State;
use super::tabulate::{Kind, tabulate};
pub(super) use elementwise::convert;
pub(super) use growth::is_capped;
use halite_ir::{Inst, Op, TensorType};
use halite_tensor::DType;
use smallvec::{SmallVec, smallvec};

/// The states of an instruction's results.
pub(super) type States = SmallVec<[State; 1]>;

/// An instruction with the states of its operands.
pub(super) struct TransferCx<'a> {
    pub(super) inst: &'a Inst,
    pub(super) args: SmallVec<[&'a State; 4]>,
    pub(super) types: SmallVec<[&'a TensorType; 4]>,
    pub(super) results: SmallVec<[&'a TensorType; 1]>,
    /// Whether the operand is at most 0, because its maximum was subtracted from it.
    pub(super) capped: bool,
    pub(super) assumptions: &'a mut Assumptions,
}

impl TransferCx<'_> {
    /// The element type of the result.
    fn dtype(&self) -> DType {
        self.results[0].dtype()
    }

    fn shape(&self) -> &[usize] {
        self.results[0].shape()
    }

    fn assume(&mut self, assumption: Assumption) {
        self.assumptions.add(assumption);
    }

    /// The index space of the instruction.
    fn space(&self) -> Space {
        let results: SmallVec<[TensorType; 1]> = self.results.iter().map(|&ty| ty.clone()).collect();
        Space::new(self.inst.op.def().dims(&self.types, &results))
    }
}

/// Returns the states of the results. Calls and composites are for the caller.
pub(super) fn transfer(cx: &mut TransferCx<'_>) -> States {
    let state = match &cx.inst.op {
        Op::Constant(constant) => match constant.splat_value() {
            Some(value) => State::splat(value),
            None => literal(&constant.value),
        },
        Op::Iota(iota) => State::counting(Digit::whole(iota.dim, iota.ty.shape()[iota.dim]).into(), cx.dtype()),
        Op::Convert(_) => elementwise::convert(cx.args[0], cx.types[0].dtype(), cx.dtype()),
        Op::Compare(op) => choice::compare(cx, op.direction),
        Op::Select(_) => choice::select(cx),
        Op::Clamp(_) => choice::clamp(cx),
        Op::Reduce(op) => contraction::reduce(cx, op.kind),
        Op::DotGeneral(_) => contraction::dot(cx),
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) => placed(cx, 0, 0),
        Op::OptimizationBarrier(_) => return cx.args.iter().map(|&arg| arg.clone()).collect(),
        Op::Slice(op) => movement::slice(cx, &op.start, &op.stride),
        Op::Pad(op) => movement::pad(cx, op),
        Op::Reverse(op) => movement::reverse(cx, &op.dims),
        Op::Concatenate(op) => movement::concatenate(cx, op.dim),
        Op::DynamicSlice(_) => movement::dynamic_slice(cx),
        Op::DynamicUpdateSlice(_) => movement::dynamic_update_slice(cx),
        Op::Take(op) => indexing::take(cx, op.dim),
        Op::TakeAlongAxis(op) => indexing::take(cx, op.dim),
        op if cx.args.len() == 1 && elementwise::is_unary(op) => elementwise::unary(cx),
        op if cx.args.len() == 2 && elementwise::is_binary(op) => elementwise::binary(cx),
        _ => return (0..cx.results.len()).map(|result| generic(cx, result)).collect(),
    };
    let grows = growth::grows(cx);
    smallvec![State { grows, ..state }]
}

/// A result of an element-wise function: by value, where positions and constants decide all operands and nothing closer is
/// known of it; not known, where it has too many values.
fn counted(args: &[&State], dtype: DType, state: State, kind: Kind, function: impl Fn(&[f64]) -> Option<f64>) -> State {
    if state.number.is_some() || !args.iter().all(|arg| arg.is_counted()) || state.levels.constants().covers_all() {
        return state;
    }
    match tabulate(args, kind, |values| function(values).map(|value| round(dtype, value))) {
        Some(table) => State { magnitude: state.magnitude, ..State::tabulated(table) },
        None => State { unsure: true, ..state },
    }
}

/// An operand whose elements stand elsewhere in the result, each at least once.
fn placed(cx: &TransferCx<'_>, operand: usize, result: usize) -> State {
    let space = cx.space();
    let place = |digit: Digit| space.lift(operand, digit)?.replaced(&|digit| space.lower(result, digit));
    cx.args[operand].carried(&place)
}

/// Any op, by its dimension map alone: elements depend on those of the operands that share its factors, and on all
/// positions of the others.
fn generic(cx: &TransferCx<'_>, result: usize) -> State {
    let space = cx.space();
    let mut state = State::default();
    for (operand, arg) in cx.args.iter().enumerate() {
        if arg.is_static() {
            continue;
        }
        let settled = (*arg).clone().settled();
        let flow = settled.flow.carried(&|digit| space.lift(operand, digit), &|digit| space.lift(operand, digit));
        let gone = |digit: Digit| space.lacks(result, digit);
        let summed =
            |digit: Digit| gone(digit) && matches!(space.kind(digit), halite_ir::dims::FactorKind::Contracted(_));
        let flow = flow.eliminated(&summed, false).eliminated(&gone, true);
        let lower = |digit: Digit| -> Option<Affine> { space.lower(result, digit) };
        state.flow.join(&flow.carried(&lower, &lower));
    }
    state.unsure = cx.args.iter().any(|arg| arg.unsure);
    state.grows = growth::grows(cx);
    state
}
