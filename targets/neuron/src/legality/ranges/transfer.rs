//! The range of one result from those of its operands.

use super::literal;
use halite_hlo::graph::Graph;
use halite_hlo::proto::ShapeProto;
use halite_tensor::{DType, IntRange};

/// The range of an integer result before any wrapping; `None` when nothing is known.
pub(super) fn result(graph: &Graph, at: usize, operand: impl Fn(usize) -> IntRange) -> Option<IntRange> {
    let inst = graph.inst(at);
    let (x, y) = (|| operand(0), || operand(1));
    Some(match &*inst.opcode {
        "constant" => return constant(graph, at),
        "iota" => IntRange::new(0, i128::from(dimension(graph, at)?.max(1)) - 1),
        "convert" => return converted(graph, at, x()),
        "broadcast" | "copy" | "gather" | "reshape" | "reverse" | "slice" | "transpose" | "dynamic-slice"
        | "all-gather" | "all-to-all" | "sort" => x(),
        "collective-permute" => x().union(IntRange::ZERO),
        "pad" | "dynamic-update-slice" => x().union(y()),
        "concatenate" => (1..inst.operand_ids.len()).fold(x(), |range, number| range.union(operand(number))),
        "select" => match x() {
            IntRange { low: 1, .. } => y(),
            IntRange { high: 0, .. } => operand(2),
            _ => y().union(operand(2)),
        },
        "clamp" => y().maximum(x()).minimum(operand(2)),
        "compare" => return compared(graph, at, x(), y()),
        "not" if is_pred(graph, at) => IntRange::new(1, 1) - x(),
        "reduce" => return reduced(graph, at, x(), y()),
        "all-reduce" if matches!(combiner(graph, at), Some("maximum" | "minimum" | "and" | "or")) => x(),
        "scatter" if combiner(graph, at) == Some(ASSIGN) => x().union(operand(2)),
        "popcnt" | "count-leading-zeros" => IntRange::new(0, 64),
        "negate" => -x(),
        "abs" => x().abs(),
        "sign" => IntRange::new(-1, 1),
        opcode => return binary(opcode, x(), y()),
    })
}

/// The name of a combiner that returns its second parameter.
const ASSIGN: &str = "assign";

/// The opcode by which the computation that an instruction calls combines its two parameters; [`ASSIGN`] when it gives
/// the second.
pub(in crate::legality) fn combiner(graph: &Graph, at: usize) -> Option<&str> {
    let root = graph.root(graph.callee(at, 0)?)?;
    let inst = graph.inst(root);
    let parameter = |at: usize| (graph.inst(at).opcode == "parameter").then(|| graph.inst(at).parameter_number);
    let operand = |number: usize| graph.operand(root, number).and_then(parameter);
    match (&*inst.opcode, inst.operand_ids.len()) {
        ("parameter", _) if inst.parameter_number == 1 => Some(ASSIGN),
        ("copy", 1) if operand(0) == Some(1) => Some(ASSIGN),
        (opcode, 2) if matches!((operand(0), operand(1)), (Some(0), Some(1)) | (Some(1), Some(0))) => Some(opcode),
        _ => None,
    }
}

fn binary(opcode: &str, x: IntRange, y: IntRange) -> Option<IntRange> {
    Some(match opcode {
        "add" => x + y,
        "subtract" => x - y,
        "multiply" => x * y,
        "maximum" => x.maximum(y),
        "minimum" => x.minimum(y),
        "divide" => x.divide(y),
        "remainder" => x.remainder(y),
        "and" => x.and(y),
        "or" | "xor" => x.or(y),
        "shift-left" => x.shift_left(y),
        "shift-right-logical" => x.shift_right_logical(y),
        "shift-right-arithmetic" => x.shift_right_arithmetic(y),
        _ => return None,
    })
}

fn dtype(shape: Option<&ShapeProto>) -> Option<DType> {
    shape.and_then(ShapeProto::dtype)
}

fn is_pred(graph: &Graph, at: usize) -> bool {
    dtype(graph.shape(at)) == Some(DType::Pred)
}

/// The size of the dimension that an instruction names.
fn dimension(graph: &Graph, at: usize) -> Option<i64> {
    let inst = graph.inst(at);
    let dim = usize::try_from(*inst.dimensions.first()?).ok()?;
    inst.shape.as_deref()?.dimensions.get(dim).copied()
}

/// The range of the integers of a constant.
pub(in crate::legality) fn constant(graph: &Graph, at: usize) -> Option<IntRange> {
    let inst = graph.inst(at);
    let values = literal::integers(inst.literal.as_ref()?, dtype(inst.shape.as_deref())?);
    values.map(|value| IntRange::new(value, value)).reduce(IntRange::union)
}

/// Floats may be anything, and what does not fit is cut where the result is kept.
fn converted(graph: &Graph, at: usize, x: IntRange) -> Option<IntRange> {
    let to_pred = is_pred(graph, at);
    match x {
        IntRange::ZERO => Some(x),
        _ if to_pred && (x.low > 0 || x.high < 0) => Some(IntRange::new(1, 1)),
        _ if to_pred => None,
        _ => Some(x),
    }
}

/// Decides a comparison of integers where ranges do.
fn compared(graph: &Graph, at: usize, x: IntRange, y: IntRange) -> Option<IntRange> {
    if dtype(graph.operand_shape(at, 0)).is_none_or(DType::is_float) {
        return None;
    }
    let below = |x: IntRange, y: IntRange, or_equal: bool| {
        let (always, never) =
            if or_equal { (x.high <= y.low, x.low > y.high) } else { (x.high < y.low, x.low >= y.high) };
        (always, never)
    };
    let (always, never) = match graph.inst(at).comparison_direction.as_str() {
        "LT" => below(x, y, false),
        "LE" => below(x, y, true),
        "GT" => below(y, x, false),
        "GE" => below(y, x, true),
        _ => return None,
    };
    match (always, never) {
        (true, _) => Some(IntRange::new(1, 1)),
        (_, true) => Some(IntRange::ZERO),
        _ => None,
    }
}

/// The range of a reduction of one operand, all partial results among them that some element is part of.
fn reduced(graph: &Graph, at: usize, x: IntRange, init: IntRange) -> Option<IntRange> {
    if graph.inst(at).operand_ids.len() != 2 {
        return None;
    }
    match combiner(graph, at)? {
        "add" => Some(x.sum_of(reduced_elements(graph, at)?) + init),
        _ if starts_beyond(graph, at, x, init) => Some(x),
        "maximum" | "minimum" => Some(x.union(init)),
        _ => None,
    }
}

/// Whether a reduction looks for the largest or smallest of some elements, from an initial value that loses to each of them,
/// even rounded: it is not the result.
pub(in crate::legality) fn starts_beyond(graph: &Graph, at: usize, x: IntRange, init: IntRange) -> bool {
    let loses = match combiner(graph, at) {
        Some("maximum") => init.high <= x.low,
        Some("minimum") => init.low >= x.high,
        _ => false,
    };
    loses && reduced_elements(graph, at).is_some_and(|count| count > 0)
}

/// The number of elements that each result of a reduction is made of.
pub(in crate::legality) fn reduced_elements(graph: &Graph, at: usize) -> Option<i128> {
    let sizes = &graph.operand_shape(at, 0)?.dimensions;
    let dims = graph.inst(at).dimensions.iter().map(|dim| sizes.get(usize::try_from(*dim).ok()?).copied());
    dims.map(|size| size.map(|size| i128::from(size.max(0))))
        .try_fold(1i128, |product, size| Some(product.saturating_mul(size?)))
}
