//! The discrete choices of a program.
//!
//! A program that picks among its values (`top_k`, `arg_max`, a comparison of floats) jumps where these lie close together:
//! rounding makes it choose otherwise, and every result that follows is another one without being wrong. Such programs are
//! compared on the same choices: each choice becomes an input that gets the choice of the program in `f64`, and the choice that the
//! program would have made becomes a result. A choice that differs is attributed to rounding if, in `f64`, the chosen values lie no
//! further from those that would have been chosen than rounding moves them; further off, it is an error.

#[cfg(test)]
mod tests;

use super::outputs::{Output, Outputs};
use super::{ChoiceCounts, VerifyRow};
use halite_ir::composites::TopK;
use halite_ir::{Function, Inst, Module, Op, ParamRole, Registry, ResultRole, Rewriter, Value, Values};
use halite_support::{Diagnostic, Name, Names, Result};
use halite_tensor::HostTensor;
use halite_tensor::compare::difference;
use indexmap::IndexMap;

/// The form of a program with regard to its choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The program as it is.
    AsWritten,
    /// The program, which also returns its choices and the values that it chooses among.
    Showing,
    /// The program is given its choices and returns those that it would have made.
    Given,
    /// The same, and it also returns the values that it would have chosen among.
    GivenShowing,
}

impl Form {
    fn is_given(self) -> bool {
        matches!(self, Self::Given | Self::GivenShowing)
    }

    fn shows_operands(self) -> bool {
        matches!(self, Self::Showing | Self::GivenShowing)
    }
}

/// The choices of a model, in order.
pub(super) struct Choices {
    list: Vec<Choice>,
}

/// An instruction that chooses among floats.
struct Choice {
    /// The name of the choice among inputs and results.
    name: Name,
    /// The same for people.
    title: String,
    /// The position of the instruction.
    inst: usize,
    /// The number of the result that holds the choice.
    result: usize,
    operands: Values,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Whether one operand stands in an order to another, element by element.
    Order,
    /// Positions along a dimension of the operand, which the result lacks.
    First { dim: usize },
    /// Positions along the last dimension of the operand.
    Several,
}

impl Choices {
    /// The choices of the entry of a module. Only instructions that depend on float parameters count: a mask made of positions is
    /// always the same.
    pub(super) fn of(module: &Module) -> Self {
        let Some(entry) = module.entry() else { return Self { list: Vec::new() } };
        let mut varies = vec![false; entry.values.len()];
        for param in &entry.params {
            varies[param.value.index()] = entry.ty(param.value).dtype().is_float();
        }
        let prefix = prefix(entry);
        let mut list = Vec::new();
        for (position, inst) in entry.insts.iter().enumerate() {
            if !inst.args.iter().any(|arg| varies[arg.index()]) {
                continue;
            }
            inst.results.iter().for_each(|result| varies[result.index()] = true);
            let is_float = inst.args.iter().all(|&arg| entry.ty(arg).dtype().is_float());
            if let Some((kind, result)) = kind(inst).filter(|_| is_float) {
                let name = Name::from(format!("{prefix}.{}", list.len()));
                let title = match module.locs.scope(inst.loc) {
                    scope if scope.is_empty() => format!("{name} ({})", inst.op.name()),
                    scope => format!("{name} ({} in {scope})", inst.op.name()),
                };
                list.push(Choice { name, title, inst: position, result, operands: inst.args.clone(), kind });
            }
        }
        Self { list }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a result is one of the choices or of the values chosen among, and not a result of the model.
    pub(super) fn own(&self, result: &str) -> bool {
        let is_of = |choice: &Choice| {
            result == &*choice.name || (0..choice.operands.len()).any(|at| result == choice.operand(at))
        };
        self.list.iter().any(is_of)
    }

    /// The inputs that make a program choose as one with these results did.
    pub(super) fn given(&self, outputs: &Outputs) -> Result<IndexMap<String, HostTensor>> {
        let given = |choice: &Choice| Ok((choice.input(), output(outputs, &choice.name)?.written.clone()));
        self.list.iter().map(given).collect()
    }

    /// Whether two programs chose the same.
    pub(super) fn agree(&self, a: &Outputs, b: &Outputs) -> Result<bool> {
        for choice in &self.list {
            if output(a, &choice.name)?.written != output(b, &choice.name)?.written {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Compares the choices that a program would have made with those it was given: one row for each place that chooses,
    /// whose error is how far off the worst choice lies, and the numbers of all. `noise` says how far rounding moves a value,
    /// of which the results without optimizations and those in `f64` are given.
    pub(super) fn judge(
        &self,
        [truth, plain, outputs]: [&Outputs; 3],
        noise: impl Fn(&Output, &Output) -> f64,
    ) -> Result<(Vec<VerifyRow>, ChoiceCounts)> {
        let (mut rows, mut counts) = (Vec::new(), ChoiceCounts::default());
        for choice in &self.list {
            let mut allowed = 0.0;
            for at in 0..choice.operands.len() {
                let name = choice.operand(at);
                allowed += noise(output(plain, &name)?, output(truth, &name)?);
            }
            // Both of the elements between which a position decides are moved.
            allowed *= if matches!(choice.kind, Kind::Order) { 1.0 } else { 2.0 };
            let right = output(truth, &choice.name)?;
            let distances = |of: &Outputs| choice.distances(truth, &right.written, &output(of, &choice.name)?.written);
            let (own, unoptimized) = (distances(outputs)?, distances(plain)?);
            counts.all += right.written.len();
            counts.differ += own.len();
            counts.wrong += own.iter().filter(|distance| distance.is_nan() || **distance > allowed).count();
            let values = &output(truth, &choice.operand(0))?.written;
            let scale = difference(values, values).scale;
            let relative = |value: f64| if scale > 0.0 { value / scale } else { value };
            let worst = |distances: &[f64]| relative(distances.iter().copied().fold(0.0, largest));
            let (error, unoptimized, allowed) = (worst(&own), worst(&unoptimized), relative(allowed));
            rows.push(VerifyRow::within(choice.title.clone(), error, unoptimized, allowed));
        }
        Ok((rows, counts))
    }
}

/// The larger of two numbers; NaN is larger than all.
fn largest(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

fn output<'a>(outputs: &'a Outputs, name: &str) -> Result<&'a Output> {
    outputs.get(name).ok_or_else(|| Diagnostic::bug(format!("a program that was to show `{name}` does not")))
}

/// Returns the kind of choice that an instruction makes, and the number of the result that holds it.
fn kind(inst: &Inst) -> Option<(Kind, usize)> {
    match &inst.op {
        // Compared with itself, a value is asked whether it is NaN.
        Op::Compare(_) if inst.args[0] != inst.args[1] => Some((Kind::Order, 0)),
        Op::ArgMax(op) => Some((Kind::First { dim: op.dim }, 0)),
        Op::Composite(composite) if composite.is(&TopK) => Some((Kind::Several, 1)),
        _ => None,
    }
}

/// Returns the prefix of the names of choices. No name of the entry begins with it.
fn prefix(entry: &Function) -> Name {
    let names = || entry.params.iter().map(|param| &param.name).chain(entry.results.iter().map(|result| &result.name));
    let prefixes = names().flat_map(|name| name.match_indices('.').map(|(at, _)| Name::from(&name[..at])));
    prefixes.collect::<Names>().unused("choice")
}

impl Kind {
    /// The offset in an operand of this shape of what element `at` of a choice of this shape points to with `position`.
    fn offset(self, operand: &[usize], choice: &[usize], at: usize, position: usize) -> usize {
        match self {
            Self::Order => at,
            Self::First { dim } => {
                let behind: usize = operand[dim + 1..].iter().product();
                (at / behind * operand[dim] + position) * behind + at % behind
            }
            Self::Several => {
                let last = |shape: &[usize]| shape.last().copied().unwrap_or(1);
                at / last(choice) * last(operand) + position
            }
        }
    }
}

impl Choice {
    fn operand(&self, at: usize) -> String {
        format!("{}.operand{at}", self.name)
    }

    /// The name of the input that gives the choice: another one than that of the result that shows it, as they need not lie alike on ranks.
    fn input(&self) -> String {
        format!("{}.given", self.name)
    }

    /// The input that the choice is given by. It is an argument like any other, and no data of positions in a sequence.
    fn add_param(&self, b: &mut Rewriter<'_>, entry: &Function) -> Value {
        let ty = entry.ty(entry.insts[self.inst].results[self.result]).clone();
        b.param(self.input(), ty, ParamRole::Argument)
    }

    /// Puts what is given in the place of the choice, and of the values that it chose.
    fn choose(&self, b: &mut Rewriter<'_>, inst: &Inst, given: Value) -> Result<()> {
        if let Kind::Several = self.kind {
            let x = b.value(self.operands[0])?;
            let (outer, last) = (b.set_loc(inst.loc), b.shape(x).rank() - 1);
            let values = b.take_along_axis(x, given, last)?;
            b.set_loc(outer);
            b.replace(inst.results[0], values);
        }
        b.replace(inst.results[self.result], given);
        Ok(())
    }

    /// For each choice that differs, the distance in `f64` between the value that was chosen and the one that should have been.
    fn distances(&self, truth: &Outputs, right: &HostTensor, own: &HostTensor) -> Result<Vec<f64>> {
        let operand = |at: usize| output(truth, &self.operand(at)).map(|output| &output.written);
        let (first, right_shape) = (operand(0)?, right.shape());
        let pairs = right.ints().into_iter().zip(own.ints()).enumerate();
        let other = if self.operands.len() > 1 { operand(1)?.f64s() } else { Vec::new() };
        let values = first.f64s();
        let between = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).abs() };
        let distance = |(at, (right, own)): (usize, (i128, i128))| match self.kind {
            Kind::Order => between(values[at], other[at]),
            Kind::First { .. } | Kind::Several => {
                let value = |position: i128| {
                    let position = usize::try_from(position).ok()?;
                    values.get(self.kind.offset(first.shape(), right_shape, at, position)).copied()
                };
                value(right).zip(value(own)).map_or(f64::NAN, |(right, own)| between(right, own))
            }
        };
        Ok(pairs.filter(|(_, (right, own))| right != own).map(distance).collect())
    }
}

/// The module with its choices in another form.
///
/// # Errors
/// A bug when a choice cannot be replaced.
pub(super) fn with_choices(module: &Module, registry: &Registry, form: Form) -> Result<Module> {
    let mut module = module.clone();
    let choices = Choices::of(&module);
    if form == Form::AsWritten || choices.is_empty() {
        return Ok(module);
    }
    let entry = module.take_entry()?;
    let mut b = Rewriter::new(&mut module, registry, &entry);
    let given: Vec<Option<Value>> =
        choices.list.iter().map(|choice| form.is_given().then(|| choice.add_param(&mut b, &entry))).collect();
    let mut list = choices.list.iter().zip(given).peekable();
    let mut shown = Vec::new();
    for (position, inst) in entry.insts.iter().enumerate() {
        b.copy(&entry, inst)?;
        let Some((choice, given)) = list.next_if(|(choice, _)| choice.inst == position) else { continue };
        shown.push((choice.name.to_string(), b.value(inst.results[choice.result])?));
        if form.shows_operands() {
            for (at, &operand) in choice.operands.iter().enumerate() {
                shown.push((choice.operand(at), b.value(operand)?));
            }
        }
        if let Some(given) = given {
            choice.choose(&mut b, inst, given)?;
        }
    }
    for result in &entry.results {
        let value = b.value(result.value)?;
        b.named_result(value, result.name.clone(), result.role.clone());
    }
    for (name, value) in shown {
        b.named_result(value, name, ResultRole::Value);
    }
    b.into_builder().finish();
    Ok(module)
}
