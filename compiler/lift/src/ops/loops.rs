//! Loops that are counted.

use crate::site::Site;
use halite_hlo::Comparison;
use halite_hlo::graph::Graph;
use halite_ir::Values;
use halite_ir::ops::Call;

/// The most rounds that are written out: more than the largest models have layers.
const ROUNDS: i128 = 128;

/// The rounds of a loop, one call of its body after another.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let rounds = rounds(site.graph, site.at)?;
    let callee = site.callee()?;
    let mut carried = Values::from_slice(site.args);
    for _ in 0..rounds {
        carried = site.b.emit_all(Call { callee }, &carried).ok()?;
    }
    Some(carried)
}

/// The number of rounds of a loop in which a number that starts as a constant grows by a constant while it is below a constant; `None`
/// for other loops, and where there are too many rounds to be written out.
pub(crate) fn rounds(graph: &Graph, at: usize) -> Option<usize> {
    if graph.opcode(at) != "while" {
        return None;
    }
    let [body, condition] = [0, 1].map(|number| graph.callee(at, number).and_then(|callee| graph.root(callee)));
    let (body, condition, initial) = (body?, condition?, graph.operand(at, 0)?);
    let (element, end) = (carried(graph, graph.operand(condition, 0)?)?, number(graph, graph.operand(condition, 1)?)?);
    let direction = Comparison::parse(&graph.inst(condition).comparison_direction)?;
    if graph.opcode(condition) != "compare" || [body, initial].iter().any(|&tuple| graph.opcode(tuple) != "tuple") {
        return None;
    }
    let next = graph.operand(body, element)?;
    let operands = [graph.operand(next, 0)?, graph.operand(next, 1)?];
    let of = |x, by| (carried(graph, x) == Some(element)).then(|| number(graph, by)).flatten();
    let step = of(operands[0], operands[1]).or_else(|| of(operands[1], operands[0]))?;
    let start = number(graph, graph.operand(initial, element)?)?;
    if graph.opcode(next) != "add" || step < 1 {
        return None;
    }
    let left = match direction {
        Comparison::Lt => end - start,
        Comparison::Le => end - start + 1,
        _ => return None,
    };
    let rounds = (left.max(0) + step - 1) / step;
    (rounds <= ROUNDS).then_some(usize::try_from(rounds).ok()?)
}

/// The element of the only parameter of a computation that a value is.
fn carried(graph: &Graph, at: usize) -> Option<usize> {
    let is_element = graph.opcode(at) == "get-tuple-element" && graph.opcode(graph.operand(at, 0)?) == "parameter";
    is_element.then(|| usize::try_from(graph.inst(at).tuple_index).ok()).flatten()
}

/// The whole number that a value is.
fn number(graph: &Graph, at: usize) -> Option<i128> {
    let at = if graph.opcode(at) == "copy" { graph.operand(at, 0)? } else { at };
    let inst = graph.inst(at);
    if graph.opcode(at) != "constant" || !inst.shape.as_ref()?.dimensions.is_empty() {
        return None;
    }
    let tensor = inst.literal.as_deref()?.tensor()?;
    (tensor.dtype().is_int() && tensor.shape().rank() == 0).then(|| tensor.ints()[0])
}
