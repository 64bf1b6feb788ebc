//! The order that the computation of a sort is.

use super::trial::{Scalar, tried};
use halite_hlo::graph::Graph;
use halite_tensor::DType;
use std::cmp::Ordering;

/// The most keys of a sort: all cases of their order are tried.
const KEYS: usize = 3;

/// An operand by which is sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The number of the operand.
    pub(super) operand: usize,
    pub(super) descending: bool,
    pub(super) order: Order,
}

/// The order of floats. Of integers all are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// That of IEEE 754: -0 before 0, and NaN of either sign at either end.
    Total,
    /// Zeros are equal, and all NaN are one, the largest.
    Last,
    /// That of numbers, which gives NaN no place.
    Numbers,
}

impl Key {
    fn compare(self, x: Scalar, y: Scalar) -> Option<Ordering> {
        let order = match self.order {
            Order::Total => x.total_order(y)?,
            Order::Last | Order::Numbers => x.order(y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan())),
        };
        Some(if self.descending { order.reverse() } else { order })
    }
}

/// The keys, the first one first, of a computation that says of two elements of each operand, of these types, whether the first one comes
/// first; `None` where that is no order of a few operands.
///
/// All cases are tried: a computation that only compares and selects, also with zero and NaN, depends on nothing but the order of its
/// operands, of which there are these.
pub(super) fn keys(graph: &Graph, computation: usize, operands: &[DType]) -> Option<Vec<Key>> {
    let read = read(graph, computation, operands.len())?;
    if read.is_empty() || read.len() > KEYS {
        return None;
    }
    for order in [Order::Last, Order::Total, Order::Numbers] {
        for down in 0..1_usize << read.len() {
            let key = |(at, &operand): (usize, &usize)| Key { operand, descending: down >> at & 1 == 1, order };
            let keys: Vec<Key> = read.iter().enumerate().map(key).collect();
            if is_order(graph, computation, operands, &keys)? {
                return Some(keys);
            }
        }
    }
    None
}

/// The operands of which a computation reads an element.
fn read(graph: &Graph, computation: usize, count: usize) -> Option<Vec<usize>> {
    let mut is_read = vec![false; count];
    for at in graph.computations().get(computation)?.range() {
        for operand in graph.operands(at).flatten().filter(|&operand| graph.opcode(operand) == "parameter") {
            let number = usize::try_from(graph.inst(operand).parameter_number).ok()?;
            *is_read.get_mut(number / 2)? = true;
        }
    }
    Some((0..count).filter(|&operand| is_read[operand]).collect())
}

/// Whether a computation orders by these keys; `None` where it does more than that.
fn is_order(graph: &Graph, computation: usize, operands: &[DType], keys: &[Key]) -> Option<bool> {
    let all: Vec<Vec<Scalar>> = keys.iter().map(|key| scalars(operands[key.operand], key.order)).collect();
    let count = all.iter().map(|scalars| scalars.len() * scalars.len()).product();
    let mut args = vec![Scalar::Int(0); 2 * operands.len()];
    for case in 0..count {
        let (mut rest, mut expected): (usize, Ordering) = (case, Ordering::Equal);
        for (key, scalars) in keys.iter().zip(&all) {
            let (x, y) = (scalars[rest % scalars.len()], scalars[rest / scalars.len() % scalars.len()]);
            rest /= scalars.len() * scalars.len();
            (args[2 * key.operand], args[2 * key.operand + 1]) = (x, y);
            expected = expected.then(key.compare(x, y)?);
        }
        match tried(graph, computation, &args)?[..] {
            [Scalar::Int(first)] if (first == 1) == (expected == Ordering::Less) => {}
            _ => return Some(false),
        }
    }
    Some(true)
}

/// Numbers of each way to compare with another one, and floats with zero.
fn scalars(dtype: DType, order: Order) -> Vec<Scalar> {
    let floats = [-2.0, -1.0, -0.0, 0.0, 1.0, 2.0, f64::NAN, -f64::NAN];
    match dtype {
        DType::Pred => (0..2).map(Scalar::Int).collect(),
        dtype if dtype.is_int() => (0..3).map(Scalar::Int).collect(),
        _ => floats.into_iter().filter(|x| order != Order::Numbers || !x.is_nan()).map(Scalar::Float).collect(),
    }
}
