//! What one instruction makes of what is known of its operands: one function for each kind of op.

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
use super::table::{Kind, Table};
pub(super) use elementwise::convert;
pub(super) use growth::is_capped;
use halite_ir::{Inst, Op, TensorType};
use halite_tensor::DType;
use smallvec::{SmallVec, smallvec};

/// What is known of the results of an instruction.
pub(super) type States = SmallVec<[State; 1]>;

/// An instruction and what is known of its operands.
pub(super) struct Site<'a> {
    pub(super) inst: &'a Inst,
    pub(super) args: SmallVec<[&'a State; 4]>,
    pub(super) types: SmallVec<[&'a TensorType; 4]>,
    pub(super) results: SmallVec<[&'a TensorType; 1]>,
    /// Whether the operand is at most 0, as what its maximum was subtracted from is.
    pub(super) capped: bool,
    pub(super) assumptions: &'a mut Assumptions,
}

impl Site<'_> {
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

/// What is known of the results. Calls and composites are for the caller.
pub(super) fn transfer(site: &mut Site<'_>) -> States {
    let state = match &site.inst.op {
        Op::Constant(constant) => match constant.splat_value() {
            Some(value) => State::splat(value),
            None => literal(&constant.value),
        },
        Op::Iota(iota) => State::counting(Digit::whole(iota.dim, iota.ty.shape()[iota.dim]).into(), site.dtype()),
        Op::Convert(_) => elementwise::convert(site.args[0], site.types[0].dtype(), site.dtype()),
        Op::Compare(op) => choice::compare(site, op.direction),
        Op::Select(_) => choice::select(site),
        Op::Clamp(_) => choice::clamp(site),
        Op::Reduce(op) => contraction::reduce(site, op.kind),
        Op::DotGeneral(_) => contraction::dot(site),
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) => placed(site, 0, 0),
        Op::OptimizationBarrier(_) => return site.args.iter().map(|&arg| arg.clone()).collect(),
        Op::Slice(op) => movement::slice(site, &op.start, &op.stride),
        Op::Pad(op) => movement::pad(site, op),
        Op::Reverse(op) => movement::reverse(site, &op.dims),
        Op::Concatenate(op) => movement::concatenate(site, op.dim),
        Op::DynamicSlice(_) => movement::dynamic_slice(site),
        Op::DynamicUpdateSlice(_) => movement::dynamic_update_slice(site),
        Op::Take(op) => indexing::take(site, op.dim),
        Op::TakeAlongAxis(op) => indexing::take(site, op.dim),
        op if site.args.len() == 1 && elementwise::is_unary(op) => elementwise::unary(site),
        op if site.args.len() == 2 && elementwise::is_binary(op) => elementwise::binary(site),
        _ => return (0..site.results.len()).map(|result| generic(site, result)).collect(),
    };
    let grows = growth::grows(site);
    smallvec![State { grows, ..state }]
}

/// A result of an element-wise function: by value, where positions and constants decide all operands and nothing closer is
/// known of it; not known, where it has too many values.
fn counted(args: &[&State], dtype: DType, state: State, kind: Kind, function: impl Fn(&[f64]) -> Option<f64>) -> State {
    if state.number.is_some() || !args.iter().all(|arg| arg.is_counted()) || state.levels.constants().covers_all() {
        return state;
    }
    match Table::of(args, kind, |values| function(values).map(|value| round(dtype, value))) {
        Some(table) => State { magnitude: state.magnitude, ..State::tabulated(table) },
        None => State { unsure: true, ..state },
    }
}

/// An operand whose elements stand elsewhere in the result, each at least once.
fn placed(site: &Site<'_>, operand: usize, result: usize) -> State {
    let space = site.space();
    let place = |digit: Digit| space.lift(operand, digit)?.replaced(&|digit| space.lower(result, digit));
    site.args[operand].carried(&place)
}

/// Any op, by its dimension map alone: elements depend on those of the operands that share its factors, and on all
/// positions of the others.
fn generic(site: &Site<'_>, result: usize) -> State {
    let space = site.space();
    let mut state = State::default();
    for (operand, arg) in site.args.iter().enumerate() {
        if arg.is_static() {
            continue;
        }
        let settled = (*arg).clone().settled();
        let flow = settled.flow.carried(&|digit| space.lift(operand, digit), &|digit| space.lift(operand, digit));
        let gone = |digit: Digit| space.lacks(result, digit);
        let summed = |digit: Digit| gone(digit) && space.kind(digit) == halite_ir::dims::FactorKind::Contracted;
        let flow = flow.eliminated(&summed, false).eliminated(&gone, true);
        let lower = |digit: Digit| -> Option<Affine> { space.lower(result, digit) };
        state.flow.join(&flow.carried(&lower, &lower));
    }
    state.unsure = site.args.iter().any(|arg| arg.unsure);
    state.grows = growth::grows(site);
    state
}
