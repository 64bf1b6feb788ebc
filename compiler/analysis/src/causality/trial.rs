//! Trials of causality: programs are run with other tokens, to see whether a later one changes an earlier value. They use nothing that
//! the analysis found.

use super::leak::is_tokens;
use super::loss::{Comparison, comparisons};
use super::verdict::Witness;
use crate::forward::needed;
use crate::trial::{fits, inputs};
use halite_ir::composites::{CrossEntropy, Embedding};
use halite_ir::ops::Op;
use halite_ir::{FuncResult, Function, Inst, Interpreter, Module, Param, Registry, ResultRole, Value};
use halite_support::check_cancelled;
use halite_tensor::{DType, HostTensor};
use std::cmp::Ordering;

/// The outcome of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trial {
    /// A value at a position changes with a later token, or a prediction with the token that it is to predict.
    Shown(Witness),
    /// Nothing that was tried changes one.
    NotShown,
    /// The interpreter would take too long.
    TooLarge,
}

/// The number of inputs that a module is tried on, and of positions after which tokens are changed: the first of these for which there
/// is time.
const EFFORTS: [(u64, usize); 4] = [(3, 24), (2, 12), (1, 8), (1, 4)];

/// The bound below which tokens are drawn where nothing says how many there are.
const FEW: u64 = 4;

/// The least change of a value that counts, in units of the roundoff of its type and of the largest value: a smaller one may come from
/// sums in another order.
const MOVES: f64 = 64.0;

/// A module with the values that a trial looks at.
struct Subject<'a> {
    module: &'a Module,
    registry: &'a Registry,
    /// The entry, with the values that are looked at as results.
    entry: Function,
    /// The number of the parameter that is the tokens, and how many stand in each sequence.
    tokens: usize,
    width: usize,
    /// The number of positions that are looked at.
    seq: usize,
    /// The bound below which tokens are drawn.
    below: u64,
}

/// Whether the output of this name depends at a position on a later token.
pub fn of_output(module: &Module, registry: &Registry, name: &str) -> Trial {
    let Some(entry) = module.entry() else { return Trial::NotShown };
    let shown = |result: &&FuncResult| result.role == ResultRole::Probe && *result.name == *name;
    let Some(value) = entry.results.iter().find(shown).map(|result| result.value) else { return Trial::NotShown };
    let seq = entry.ty(value).shape().get(1).copied().unwrap_or_default();
    Subject::new(module, registry, &[value], seq).map_or(Trial::NotShown, |subject| subject.tried(Subject::ahead))
}

/// Whether a prediction that the loss compares with a label depends on that label. Only labels that pick one of the classes, which are
/// the last dimension, count: another value that is picked by number, such as a position, is no prediction.
pub fn of_loss(module: &Module, registry: &Registry) -> Trial {
    let Some(entry) = module.entry() else { return Trial::NotShown };
    let loss = entry.results.iter().position(|result| result.role == ResultRole::Loss);
    let needed = loss.map(|loss| needed(entry, |at| at == loss)).unwrap_or_default();
    let mut last = Trial::NotShown;
    for Comparison { prediction, label, .. } in comparisons(entry, &needed).into_iter().filter(Comparison::picks) {
        let (classes, labels) = (entry.ty(prediction).shape(), entry.ty(label).shape());
        let are_classes = classes.last().is_some_and(|last| last * labels.num_elements() == classes.num_elements());
        let subject = are_classes.then(|| Subject::new(module, registry, &[prediction, label], 0));
        let Some(subject) = subject.flatten() else { continue };
        match subject.tried(Subject::label) {
            shown @ Trial::Shown(_) => return shown,
            Trial::TooLarge => last = Trial::TooLarge,
            Trial::NotShown => {}
        }
    }
    last
}

impl<'a> Subject<'a> {
    fn new(module: &'a Module, registry: &'a Registry, values: &[Value], seq: usize) -> Option<Self> {
        let source = module.entry()?;
        let below = below(source);
        let mut entry = source.clone();
        let result = |&value: &Value| FuncResult { value, name: "".into(), role: ResultRole::Value };
        entry.results = values.iter().map(result).collect();
        let tokens = entry.params.iter().position(|param| is_tokens(&entry, param))?;
        let width = entry.ty(entry.params[tokens].value).shape()[1];
        Some(Self { module, registry, tokens, width, seq: if seq == 0 { width } else { seq }, entry, below })
    }

    /// Runs the module on some inputs and returns the first witness that `shows` finds in the inputs and the results, at one of some
    /// positions.
    fn tried(&self, shows: impl Fn(&Self, &[HostTensor], &[HostTensor], usize) -> Option<Witness>) -> Trial {
        let runs = |&(seeds, most): &(u64, usize)| seeds as usize * 2 * self.seq.min(most);
        let effort = EFFORTS.into_iter().find(|effort| fits(self.module, self.registry, runs(effort)));
        let Some((seeds, most)) = effort else { return Trial::TooLarge };
        // Among few positions are the first and the last.
        let most = self.seq.min(most);
        let position = |at: usize| at * self.seq.saturating_sub(1) / most.saturating_sub(1).max(1);
        for seed in 0..seeds {
            let given = self.inputs(seed);
            let Some(before) = self.run(&given) else { continue };
            for position in (0..most).map(position) {
                if check_cancelled().is_err() {
                    return Trial::NotShown;
                }
                if let Some(witness) = shows(self, &given, &before, position) {
                    return Trial::Shown(witness);
                }
            }
        }
        Trial::NotShown
    }

    fn run(&self, inputs: &[HostTensor]) -> Option<Vec<HostTensor>> {
        Interpreter::of(self.module, self.registry).run(&self.entry, inputs.to_vec()).ok()
    }

    fn inputs(&self, seed: u64) -> Vec<HostTensor> {
        let params = self.entry.params.iter().map(|param| (param, self.entry.ty(param.value)));
        let mut given = inputs(params, seed);
        for (param, tensor) in self.entry.params.iter().zip(&mut given) {
            if is_tokens(&self.entry, param) {
                let spread = inputs([(param, self.entry.ty(param.value))].into_iter(), !seed);
                let numbers = spread[0].ints().into_iter().enumerate();
                let below = i128::from(self.below);
                // Neighbours are unlike, so that a change of one shows.
                let tokens = numbers.map(|(at, number)| (number * 7 + at as i128 * 3) % below);
                *tensor = HostTensor::from_ints(tensor.dtype(), tensor.shape().clone(), tokens);
            }
        }
        given
    }

    /// The inputs with tokens at these positions of each sequence replaced by others.
    fn changed(&self, given: &[HostTensor], is_changed: impl Fn(usize) -> bool) -> Vec<HostTensor> {
        let below = i128::from(self.below.max(2));
        let other = |(param, tensor): (&Param, &HostTensor)| {
            if !is_tokens(&self.entry, param) {
                return tensor.clone();
            }
            let width = tensor.shape()[1];
            let tokens = tensor.ints().into_iter().enumerate();
            let tokens = tokens.map(|(at, token)| if is_changed(at % width) { (token + 1) % below } else { token });
            HostTensor::from_ints(tensor.dtype(), tensor.shape().clone(), tokens)
        };
        self.entry.params.iter().zip(given).map(other).collect()
    }

    /// A value up to a position that changes with the tokens after it.
    fn ahead(&self, given: &[HostTensor], before: &[HostTensor], position: usize) -> Option<Witness> {
        let moved = |is_changed: &dyn Fn(usize) -> bool| {
            let after = self.run(&self.changed(given, is_changed))?;
            moved(&before[0], &after[0]).into_iter().map(|at| row(&before[0], at)).find(|&at| at <= position)
        };
        let together = moved(&|at| at > position)?;
        let alone = (position + 1..self.width).find_map(|token| Some((moved(&|at| at == token)?, token)));
        let (position, token) = alone.unwrap_or((together, position + 1));
        Some(Witness { position: position as i64, token: token as i64 })
    }

    /// A prediction that changes with the token that it is to predict.
    fn label(&self, given: &[HostTensor], before: &[HostTensor], token: usize) -> Option<Witness> {
        let changed = self.changed(given, |at| at == token);
        let after = self.run(&changed)?;
        let (old, new) = (given[self.tokens].ints(), changed[self.tokens].ints());
        let (width, rows) = (self.width, before[1].len());
        let (was, is) = (before[1].ints(), after[1].ints());
        let behind = before[0].len() / rows.max(1);
        let sequences = old.len() / width;
        let changes = moved(&before[0], &after[0]);
        let follows = |at: usize| {
            let of = at * sequences / rows.max(1) * width + token;
            was[at] != is[at] && was[at] == old[of] && is[at] == new[of]
        };
        let reads = |at: usize| changes.iter().any(|&element| element / behind.max(1) == at);
        let told = (0..rows).find(|&at| follows(at) && reads(at));
        told.map(|_| Witness { position: token as i64 - 1, token: token as i64 })
    }
}

/// The elements that are not the same, beyond what rounding explains.
fn moved(before: &HostTensor, after: &HostTensor) -> Vec<usize> {
    let (x, y) = (before.f64s(), after.f64s());
    let scale = x.iter().chain(&y).filter(|x| x.is_finite()).fold(0.0, |scale: f64, x| scale.max(x.abs()));
    let least = match before.dtype() {
        dtype if dtype.is_float() => MOVES * DType::unit_roundoff(dtype) * scale,
        _ => 0.0,
    };
    let differs = |(x, y): (&f64, &f64)| {
        x != y && !(x.is_nan() && y.is_nan()) && (x - y).abs().partial_cmp(&least) != Some(Ordering::Less)
    };
    x.iter().zip(&y).enumerate().filter(|(_, pair)| differs(*pair)).map(|(at, _)| at).collect()
}

/// The position of an element of `[batch, position, ..]`.
fn row(tensor: &HostTensor, at: usize) -> usize {
    let shape = tensor.shape();
    at / shape[2..].iter().product::<usize>().max(1) % shape[1]
}

/// Below what tokens are: the least of the sizes that tokens index as they are fed.
fn below(entry: &Function) -> u64 {
    let mut raw = vec![false; entry.values.len()];
    for param in entry.params.iter().filter(|param| is_tokens(entry, param)) {
        raw[param.value.index()] = true;
    }
    let mut least: Option<usize> = None;
    for inst in &entry.insts {
        let keeps = matches!(inst.op, Op::Slice(_) | Op::Reshape(_) | Op::Convert(_) | Op::Transpose(_));
        if keeps && raw[inst.args[0].index()] {
            inst.results.iter().for_each(|result| raw[result.index()] = true);
        }
        least = indexed(entry, inst, &raw).into_iter().chain(least).min();
    }
    least.map_or(FEW, |least| least.max(2) as u64)
}

/// The number of elements of which an instruction picks one by a token; `None` for other instructions.
fn indexed(entry: &Function, inst: &Inst, raw: &[bool]) -> Option<usize> {
    let by = |at: usize| inst.args.get(at).is_some_and(|arg| raw[arg.index()]);
    let size = |at: usize, dim: usize| entry.ty(inst.args[at]).shape().get(dim).copied();
    match &inst.op {
        Op::Take(op) if by(1) => size(0, op.dim),
        Op::TakeAlongAxis(op) if by(1) => size(0, op.dim),
        Op::Composite(composite) if composite.is(&CrossEntropy) && by(1) => {
            size(0, entry.ty(inst.args[0]).rank().checked_sub(1)?)
        }
        Op::Composite(composite) if composite.is(&Embedding) => {
            let (ids, table) = if by(0) { (0, 1) } else { (1, 0) };
            by(ids).then(|| size(table, 0)).flatten()
        }
        _ => None,
    }
}
