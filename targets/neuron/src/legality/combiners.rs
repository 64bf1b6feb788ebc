//! Computations that combine or compare two values, and how many operands they are called with.

use super::Checker;
use super::ranges::combiner;
use crate::tables::Numbers;
use halite_hlo::proto::ShapeProto;
use halite_tensor::DType;

impl Checker<'_, '_> {
    /// More operands than are taken; the other half are initial values.
    pub(super) fn operands(&self, at: usize, at_most: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let found = inst.operand_ids.len() / 2;
        (found > at_most).then(|| format!("`{}` has {found} operands", inst.opcode))
    }

    /// The values are combined otherwise than by one of these opcodes.
    pub(super) fn combiner(&self, at: usize, taken: &[String], of: Numbers) -> Option<String> {
        let inst = self.graph.inst(at);
        // Reductions of several operands at once are another rule's business.
        if inst.opcode == "reduce" && inst.operand_ids.len() != 2 {
            return None;
        }
        self.graph.callee(at, 0)?;
        let is_float = self.graph.operand_shape(at, 0).and_then(ShapeProto::dtype).is_none_or(DType::is_float);
        let about = match of {
            Numbers::Any => true,
            Numbers::Floats => is_float,
            Numbers::Integers => !is_float,
        };
        let found = combiner(self.graph, at);
        if !about || found.is_some_and(|found| taken.iter().any(|taken| taken == found)) {
            return None;
        }
        let how = found.map_or_else(|| "a computation of several steps".to_owned(), |found| format!("`{found}`"));
        Some(format!("`{}` combines by {how}", inst.opcode))
    }

    /// The initial value is computed.
    pub(super) fn variable_init(&self, at: usize) -> Option<String> {
        let count = self.graph.inst(at).operand_ids.len();
        let moved = ["broadcast", "copy", "convert", "reshape"];
        let is_constant = |number: usize| {
            let mut at = self.graph.operand(at, number);
            while let Some(value) = at.filter(|&at| moved.contains(&self.graph.opcode(at))) {
                at = self.graph.operand(value, 0);
            }
            at.is_some_and(|at| self.graph.inst(at).opcode == "constant")
        };
        (count / 2..count).find(|&number| !is_constant(number)).map(|number| {
            let init = self.graph.operand(at, number).map_or("?", |at| &self.graph.inst(at).opcode);
            format!("the initial value is the result of `{init}`")
        })
    }

    /// The comparison that decides the order is none of these.
    pub(super) fn comparator(&self, at: usize, taken: &[String]) -> Option<String> {
        let root = self.graph.callee(at, 0).and_then(|callee| self.graph.root(callee));
        let Some(root) = root.map(|root| self.graph.inst(root)) else { return Some("it has no comparator".to_owned()) };
        if root.opcode != "compare" {
            return Some(format!("the comparator ends in `{}`", root.opcode));
        }
        let direction = &root.comparison_direction;
        (!taken.contains(direction)).then(|| format!("the comparator compares by `{direction}`"))
    }

    /// The algorithm of a generator is not the default one.
    pub(super) fn algorithm(&self, at: usize) -> Option<String> {
        let number = self.graph.inst(at).rng_algorithm;
        let name = halite_hlo::RngAlgorithm::from_number(number).map_or("unknown", halite_hlo::RngAlgorithm::name);
        (number != halite_hlo::RngAlgorithm::Default as i32).then(|| format!("the algorithm is `{name}`"))
    }
}
