//! Small computations run on a few numbers.

use super::elementwise::direction;
use halite_hlo::Comparison;
use halite_hlo::graph::Graph;
use std::cmp::Ordering;

/// A number that stands for all that compare as it does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Int(i128),
    Float(f64),
}

impl Scalar {
    /// Their order as numbers; `None` where one is NaN.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(x), Self::Int(y)) => Some(x.cmp(&y)),
            (Self::Float(x), Self::Float(y)) => x.partial_cmp(&y),
            _ => None,
        }
    }

    /// Their order by IEEE 754: that of numbers but for -0 before 0 and NaN of either sign at either end.
    pub(super) fn total_order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Float(x), Self::Float(y)) => Some(x.total_cmp(&y)),
            _ => self.order(other),
        }
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self, Self::Float(x) if x.is_nan())
    }

    fn truth(self) -> Option<bool> {
        if let Self::Int(number @ 0..=1) = self { Some(number == 1) } else { None }
    }

    fn of(truth: bool) -> Self {
        Self::Int(truth.into())
    }
}

/// The results of a computation on numbers; `None` where it does more than compare, select and combine truth values, and where it compares
/// with other constants than zero and NaN: it depends on more than the order of its operands.
pub(super) fn tried(graph: &Graph, computation: usize, args: &[Scalar]) -> Option<Vec<Scalar>> {
    let computation = graph.computations().get(computation)?;
    let mut values: Vec<Option<Scalar>> = vec![None; computation.range().len()];
    for at in computation.range() {
        let operand = |number| *values.get(graph.operand(at, number)?.checked_sub(computation.first)?)?;
        let truth = |number| operand(number)?.truth();
        let value = match graph.opcode(at) {
            "parameter" => *args.get(usize::try_from(graph.inst(at).parameter_number).ok()?)?,
            "constant" => constant(graph, at)?,
            "copy" => operand(0)?,
            "compare" => Scalar::of(compared(graph, at, operand(0)?, operand(1)?)?),
            "select" => operand(if truth(0)? { 1 } else { 2 })?,
            "or" => Scalar::of(truth(0)? | truth(1)?),
            "and" => Scalar::of(truth(0)? & truth(1)?),
            "not" => Scalar::of(!truth(0)?),
            "maximum" => operand(if operand(0)?.order(operand(1)?)? == Ordering::Less { 1 } else { 0 })?,
            "minimum" => operand(if operand(0)?.order(operand(1)?)? == Ordering::Greater { 1 } else { 0 })?,
            "tuple" if Some(at) == computation.root => {
                return (0..graph.operands(at).len()).map(operand).collect();
            }
            _ => return None,
        };
        *values.get_mut(at - computation.first)? = Some(value);
    }
    values.get(computation.root? - computation.first).copied().flatten().map(|root| vec![root])
}

fn compared(graph: &Graph, at: usize, x: Scalar, y: Scalar) -> Option<bool> {
    let direction = direction(Comparison::parse(&graph.inst(at).comparison_direction)?);
    Some(match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) if graph.inst(at).comparison_type == "TOTALORDER" => {
            direction.holds(&x.total_cmp(&y), &Ordering::Equal)
        }
        (Scalar::Float(x), Scalar::Float(y)) => direction.holds(&x, &y),
        (Scalar::Int(x), Scalar::Int(y)) => direction.holds(&x, &y),
        _ => return None,
    })
}

/// A truth value, or zero or NaN.
fn constant(graph: &Graph, at: usize) -> Option<Scalar> {
    let tensor = graph.inst(at).literal.as_deref()?.tensor()?;
    if tensor.len() != 1 {
        return None;
    }
    if tensor.dtype().is_float() {
        let number = *tensor.f64s().first()?;
        return (number == 0.0 || number.is_nan()).then_some(Scalar::Float(number));
    }
    (tensor.dtype() == halite_tensor::DType::Pred).then(|| tensor.ints().first().map(|&truth| Scalar::Int(truth)))?
}
