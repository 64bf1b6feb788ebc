//! Counted loops.

use super::Checker;
use super::ranges::Known;
use halite_hlo::Opcode;
use halite_hlo::graph::Graph;
use halite_hlo::proto::ShapeProto;
use halite_tensor::IntRange;

impl Checker<'_, '_> {
    /// The number of trips of a loop does not follow from constants.
    pub(super) fn unknown_trip_count(&self, at: usize) -> Option<String> {
        let init = self.graph.operand(at, 0).map(|operand| self.ranges().known(operand));
        let known = Loop::new(self.graph, at, init).is_some_and(|counted| counted.counter().is_some());
        (!known).then(|| "the number of trips does not follow from constants".to_owned())
    }
}

/// The integer ranges of a loop's state in its body: of the counter, of the elements that no trip changes, and all integers for any
/// other.
pub(super) fn state(graph: &Graph, at: usize, init: Option<&Known>) -> Known {
    let shape = graph.inst(at).shape.as_deref();
    let anything = Known::of(shape);
    let Some(counted) = Loop::new(graph, at, init) else { return anything };
    let counter = counted.counter();
    let element = |index: usize| match counter {
        Some((own, range)) if own == index => range,
        _ if counted.keeps(index) => counted.init.element(index),
        _ => anything.element(index),
    };
    match &anything {
        Known::One(_) => Known::One(element(0)),
        Known::Many(elements) => (0..elements.len()).map(element).collect::<Known>().within(shape),
    }
}

/// A loop with its body and condition.
struct Loop<'g> {
    graph: &'g Graph,
    /// The root of the body, then that of the condition.
    body: usize,
    condition: usize,
    init: &'g Known,
}

impl<'g> Loop<'g> {
    fn new(graph: &'g Graph, at: usize, init: Option<&'g Known>) -> Option<Self> {
        let (body, condition) = (graph.root(graph.callee(at, 0)?)?, graph.root(graph.callee(at, 1)?)?);
        Some(Self { graph, body, condition, init: init? })
    }

    /// The element that the condition compares with a constant and the body moves by one, and its values in the body.
    fn counter(&self) -> Option<(usize, IntRange)> {
        let inst = self.graph.inst(self.condition);
        let (left, right) = (self.graph.operand(self.condition, 0)?, self.graph.operand(self.condition, 1)?);
        let direction = inst.comparison_direction.as_str();
        if inst.opcode != "compare" {
            return None;
        }
        match (self.limit(right), self.limit(left)) {
            (Some(limit), _) => self.counts(left, direction, limit),
            (_, Some(limit)) => self.counts(right, mirrored(direction), limit),
            _ => None,
        }
    }

    /// The value of a constant of the condition, or of a part of the state that never changes.
    fn limit(&self, at: usize) -> Option<i128> {
        let range = match self.index(at) {
            Some(index) if self.keeps(index) => self.init.element(index),
            _ => constant(self.graph, at)?,
        };
        (range.low == range.high).then_some(range.low)
    }

    fn counts(&self, at: usize, direction: &str, limit: i128) -> Option<(usize, IntRange)> {
        let index = self.index(at)?;
        let init = self.init.element(index);
        let start = (init.low == init.high).then_some(init.low)?;
        let step = self.step(index)?;
        let last = match (direction, step) {
            ("LT", 1..) => limit - 1,
            ("LE", 1..) => limit,
            ("GT", ..0) => limit + 1,
            ("GE", ..0) => limit,
            ("NE", 1) if start <= limit => limit - 1,
            ("NE", -1) if start >= limit => limit + 1,
            _ => return None,
        };
        // The last trip moves the counter once more: where that wraps, the loop goes on.
        let last = start + ((last - start) / step).max(0) * step;
        let end = IntRange::new(last + step, last + step);
        let ends = end.within(IntRange::of(self.graph.shape(at)?.dtype()?)?);
        ends.then(|| (index, IntRange::new(start.min(last), start.max(last))))
    }

    /// Returns the element of the state that an instruction of the condition takes.
    fn index(&self, at: usize) -> Option<usize> {
        let index = usize::try_from(self.graph.inst(at).tuple_index).ok()?;
        is_state(self.graph, at, index).then_some(index)
    }

    /// Returns the instruction whose value the body returns for an element of the state.
    fn next(&self, index: usize) -> Option<usize> {
        let is_tuple = self.graph.shape(self.body).is_some_and(ShapeProto::is_tuple);
        match self.graph.opcode(self.body) {
            "tuple" => self.graph.operand(self.body, index),
            _ if !is_tuple && index == 0 => Some(self.body),
            _ => None,
        }
    }

    /// Whether the body hands an element on as it is.
    fn keeps(&self, index: usize) -> bool {
        self.next(index).is_some_and(|next| is_state(self.graph, next, index))
    }

    /// Returns the constant that the body adds to an element.
    fn step(&self, index: usize) -> Option<i128> {
        let next = self.next(index)?;
        let (left, right) = (self.graph.operand(next, 0)?, self.graph.operand(next, 1)?);
        let single = |at| constant(self.graph, at).filter(|range| range.low == range.high).map(|range| range.low);
        match self.graph.opcode(next) {
            "add" if is_state(self.graph, left, index) => single(right),
            "add" if is_state(self.graph, right, index) => single(left),
            "subtract" if is_state(self.graph, left, index) => single(right).map(|step| -step),
            _ => None,
        }
    }
}

/// The value of a constant, through copies and conversions.
fn constant(graph: &Graph, at: usize) -> Option<IntRange> {
    match graph.opcode(at) {
        "constant" => super::ranges::constant(graph, at),
        "copy" | "convert" => super::ranges::constant(graph, graph.operand(at, 0)?),
        _ => None,
    }
}

fn mirrored(direction: &str) -> &str {
    match direction {
        "LT" => "GT",
        "LE" => "GE",
        "GT" => "LT",
        "GE" => "LE",
        other => other,
    }
}

/// Whether an instruction takes element `index` of the only parameter of its computation, or is that parameter for 0.
fn is_state(graph: &Graph, at: usize, index: usize) -> bool {
    if graph.is(at, Opcode::Parameter) {
        return index == 0 && graph.shape(at).is_some_and(|shape| !shape.is_tuple());
    }
    let takes = graph.is(at, Opcode::GetTupleElement) && usize::try_from(graph.inst(at).tuple_index) == Ok(index);
    takes && graph.operand(at, 0).is_some_and(|operand| graph.is(operand, Opcode::Parameter))
}
