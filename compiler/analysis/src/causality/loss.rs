//! Comparisons of the loss: predictions, and the labels that these must not have read.

use super::affine::{Affine, Digit};
use super::analysis::ValueStates;
use super::flow::{Flow, Term};
use super::leak::is_tokens;
use super::space::Space;
use halite_ir::composites::CrossEntropy;
use halite_ir::ops::Direction;
use halite_ir::{Function, Inst, Op, ParamRole, TensorType, Value};

/// A comparison of a prediction with a label in the loss.
pub(super) struct Comparison {
    /// The index of the instruction.
    pub(super) inst: usize,
    pub(super) prediction: Value,
    pub(super) label: Value,
    shape: Shape,
    /// Whether the label comes from an input that the prediction reads too. A label of its own input is read in its place;
    /// one among the tokens is read only where it is later than all that the prediction reads.
    among_tokens: bool,
}

impl Comparison {
    /// Whether the label is a number that picks an element.
    pub(super) fn picks(&self) -> bool {
        matches!(self.shape, Shape::Picks(_))
    }
}

/// The relation of a label to a prediction.
#[derive(Clone, Copy)]
enum Shape {
    /// It picks one of the elements along this dimension.
    Picks(usize),
    /// It weighs elements one by one.
    Weighs,
    /// Its products with the prediction are summed; it is the operand of this number.
    Contracts(usize),
}

/// The origin of a value of a function.
#[derive(Clone, Copy, Default)]
struct Origin {
    /// The inputs of tokens that it depends on, by position; those from 63 on are one.
    inputs: u64,
    /// Whether it depends on no weight.
    raw: bool,
    /// Whether its elements differ whatever the inputs are, as those of `iota` do.
    varies: bool,
    /// Whether it tells classes apart by a label: a comparison with numbers that count.
    one_hot: bool,
    /// Whether it tells one class by a label, or what counts by a mask: a comparison with a constant.
    one_class: bool,
}

impl Origin {
    /// Whether it is a label to a prediction. Of an input of its own, which the prediction does not read, a comparison with a constant is
    /// a mask.
    fn is_label_to(&self, prediction: &Self) -> bool {
        self.one_hot || (self.one_class && self.inputs & prediction.inputs != 0)
    }
}

/// The comparisons of predictions and labels among the instructions that `needed` names.
pub(super) fn comparisons(function: &Function, needed: &[bool]) -> Vec<Comparison> {
    let mut origins = vec![Origin::default(); function.values.len()];
    for (at, param) in function.params.iter().enumerate() {
        let inputs = if is_tokens(function, param) { 1 << at.min(63) } else { 0 };
        let raw = matches!(param.role, ParamRole::Batch);
        origins[param.value.index()] = Origin { inputs, raw, ..Origin::default() };
    }
    let mut found = Vec::new();
    for (index, inst) in function.insts.iter().enumerate() {
        let args: Vec<Origin> = inst.args.iter().map(|arg| origins[arg.index()]).collect();
        let raw = args.iter().all(|arg| arg.raw);
        let inputs = args.iter().fold(0, |all, arg| all | arg.inputs);
        let told = |by_numbers: bool, of: fn(&Origin) -> bool| {
            raw && inputs != 0 && (is_told(inst, &args, by_numbers) || args.iter().any(of))
        };
        let origin = Origin {
            inputs,
            raw,
            varies: inputs == 0 && (counts(inst) || args.iter().any(|arg| arg.varies)),
            one_hot: told(true, |arg| arg.one_hot),
            one_class: told(false, |arg| arg.one_class),
        };
        inst.results.iter().for_each(|result| origins[result.index()] = origin);
        if inst.results.iter().any(|result| needed[result.index()])
            && let Some((prediction, label, shape)) = roles(inst, &args)
        {
            let among_tokens = args[prediction].inputs & args[label].inputs != 0;
            let (prediction, label) = (inst.args[prediction], inst.args[label]);
            found.push(Comparison { inst: index, prediction, label, shape, among_tokens });
        }
    }
    found
}

/// Whether labels are compared with the numbers of classes, or with one of them.
fn is_told(inst: &Inst, args: &[Origin], by_numbers: bool) -> bool {
    let Op::Compare(compare) = &inst.op else { return false };
    compare.direction == Direction::Eq && args.iter().any(|arg| arg.inputs == 0 && arg.varies == by_numbers)
}

/// Whether an instruction gives different numbers by itself.
fn counts(inst: &Inst) -> bool {
    match &inst.op {
        Op::Iota(_) => true,
        Op::Constant(constant) => !constant.is_splat(),
        _ => false,
    }
}

/// The operands of an instruction that are a prediction and a label, by position.
fn roles(inst: &Inst, args: &[Origin]) -> Option<(usize, usize, Shape)> {
    let is_prediction = |at: usize| args[at].inputs != 0 && !args[at].raw;
    let pair = || [(0, 1), (1, 0)].into_iter().find(|&(x, y)| is_prediction(x) && args[y].is_label_to(&args[x]));
    match &inst.op {
        Op::Composite(composite) if composite.is(&CrossEntropy) => {
            (is_prediction(0) && args[1].raw && args[1].inputs != 0).then_some((0, 1, Shape::Picks(usize::MAX)))
        }
        Op::TakeAlongAxis(op) => {
            (is_prediction(0) && args[1].raw && args[1].inputs != 0).then_some((0, 1, Shape::Picks(op.dim)))
        }
        Op::Multiply(_) | Op::Subtract(_) => pair().map(|(x, y)| (x, y, Shape::Weighs)),
        Op::Select(_) => {
            let told = (1..3).find(|&at| is_prediction(at) && args[0].is_label_to(&args[at]));
            told.map(|at| (at, 0, Shape::Weighs))
        }
        Op::DotGeneral(_) => pair().map(|(x, y)| (x, y, Shape::Contracts(x))),
        _ => None,
    }
}

/// The labels that count, where the others are a constant: which ones these are is no label, and may be told by something later.
fn counted(mut label: Value, function: &Function, known: &ValueStates) -> Value {
    while let Some(Inst { op: Op::Select(_), args, .. }) = function.def(label) {
        let is_constant = |at: usize| known[args[at].index()].levels.everywhere().is_some();
        label = match (is_constant(1), is_constant(2)) {
            (false, true) => args[1],
            (true, false) => args[2],
            _ => break,
        };
    }
    label
}

/// The terms that the prediction reads, each with the latest token that it may read for the label there, over the digits of the
/// prediction or of the instruction. `None` when the label is not followed.
pub(super) fn pairs(comparison: &Comparison, function: &Function, known: &ValueStates) -> Option<Vec<(Term, Affine)>> {
    let flow = |value: Value| known[value.index()].as_ref().clone().settled().flow;
    let (prediction, label) = (flow(comparison.prediction), flow(counted(comparison.label, function, known)));
    let (prediction, label) = match comparison.shape {
        Shape::Weighs => (prediction, label),
        Shape::Picks(dim) => {
            let last = function.ty(comparison.prediction).rank() - 1;
            let gone = |digit: Digit| digit.dim == dim.min(last);
            (prediction.eliminated(&gone, false), label.eliminated(&gone, false))
        }
        Shape::Contracts(operand) => {
            let inst = &function.insts[comparison.inst];
            let types =
                |values: &[Value]| values.iter().map(|&value| function.ty(value).clone()).collect::<Vec<TensorType>>();
            let (args, results) = (types(&inst.args), types(&inst.results));
            let space = Space::new(inst.op.def().dims(&args.iter().collect::<Vec<_>>(), &results));
            let carried = |flow: &Flow, operand: usize| {
                let place = |digit: Digit| space.lift(operand, digit);
                flow.carried(&place, &place)
            };
            (carried(&prediction, operand), carried(&label, 1 - operand))
        }
    };
    if label.terms.iter().any(|term| term.vague) {
        return None;
    }
    let together = |(read, label): (&Term, &Term)| {
        let guard = read.guard.and(&label.guard)?;
        let form = label.form.clone().plus_constant(if comparison.among_tokens { -1 } else { 0 });
        Some((Term { guard, ..read.clone() }, form))
    };
    let pairs = prediction.terms.iter().flat_map(|read| label.terms.iter().map(move |label| (read, label)));
    Some(pairs.filter_map(together).collect())
}
