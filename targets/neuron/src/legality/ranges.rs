//! Ranges of the integers in a module, whatever its inputs.
//!
//! Computations are visited from the last to the first, so that the arguments of one are known from all its callers when it is
//! visited. The result of a call is followed through the callee for its own operands, up to a limit of work. Work is linear in the
//! size of the module.

mod component;
mod known;
mod literal;
mod transfer;

use super::loops;
use halite_hlo::graph::Graph;
use halite_hlo::proto::ShapeProto;
use halite_tensor::element_type::{self, TUPLE};
use halite_tensor::{DType, IntRange};
use rustc_hash::FxHashMap;

pub(super) use component::components;
pub(super) use known::Known;
pub(super) use literal::integers;
pub(super) use transfer::{combiner, constant, reduced_elements, starts_beyond};

/// The depth to which calls are followed for their operands.
const MAX_DEPTH: usize = 16;

/// The ranges of all results.
pub(super) struct Ranges(Vec<Known>);

impl Ranges {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut flow = Flow {
            graph,
            known: vec![Known::One(IntRange::ALL); graph.len()],
            params: vec![None; graph.computations().len()],
            called: FxHashMap::default(),
            work: 4 * graph.len() + 10_000,
        };
        for computation in (0..graph.computations().len()).rev() {
            let params = flow.params[computation].take().unwrap_or_default();
            let known = flow.evaluate(computation, &params, 0);
            let first = graph.computations()[computation].first;
            flow.known.splice(first..first + known.len(), known).for_each(drop);
        }
        Self(flow.known)
    }

    /// The range of an array; every integer for floats.
    pub(super) fn of(&self, at: usize) -> IntRange {
        self.0[at].one()
    }

    /// The ranges known of a result.
    pub(super) fn known(&self, at: usize) -> &Known {
        &self.0[at]
    }

    /// The range of an operand; every integer when it is missing.
    pub(super) fn operand(&self, graph: &Graph, at: usize, number: usize) -> IntRange {
        graph.operand(at, number).map_or(IntRange::ALL, |operand| self.of(operand))
    }
}

/// The propagation of ranges through a module.
struct Flow<'g> {
    graph: &'g Graph,
    known: Vec<Known>,
    /// The ranges that the callers visited so far pass to each computation.
    params: Vec<Option<Vec<Known>>>,
    /// The ranges of results of calls, by callee and operands.
    called: FxHashMap<(usize, Vec<Known>), Known>,
    /// How many instructions may still be looked at within calls.
    work: usize,
}

impl Flow<'_> {
    /// The results of all instructions of a computation for these parameters; those that are left out may be anything.
    fn evaluate(&mut self, computation: usize, params: &[Known], depth: usize) -> Vec<Known> {
        let (first, end) = (self.graph.computations()[computation].first, self.graph.computations()[computation].end);
        let mut known = Vec::with_capacity(end - first);
        for at in first..end {
            let result = self.result(at, first, &known, params, depth);
            known.push(result);
        }
        known
    }

    fn result(&mut self, at: usize, first: usize, known: &[Known], params: &[Known], depth: usize) -> Known {
        let graph = self.graph;
        let element = graph.element(at);
        if element != TUPLE && !graph.calls(at) && element_type::dtype(element).is_none_or(DType::is_float) {
            return Known::default();
        }
        let inst = graph.inst(at);
        let shape = inst.shape.as_deref();
        let operand = |number: usize| graph.operand(at, number).map(|operand| &known[operand - first]);
        match &*inst.opcode {
            "parameter" => {
                let number = usize::try_from(inst.parameter_number).ok();
                number
                    .and_then(|number| params.get(number))
                    .map_or_else(|| Known::of(shape), |param| param.within(shape))
            }
            "tuple" => {
                (0..inst.operand_ids.len()).map(|number| operand(number).map_or(IntRange::ALL, Known::one)).collect()
            }
            "get-tuple-element" => match (operand(0), usize::try_from(inst.tuple_index)) {
                (Some(tuple), Ok(index)) => Known::One(tuple.element(index)).within(shape),
                _ => Known::of(shape),
            },
            "opt-barrier" => operand(0).map_or_else(|| Known::of(shape), |operand| operand.within(shape)),
            "call" | "fusion" => {
                let args =
                    (0..inst.operand_ids.len()).map(|number| operand(number).cloned().unwrap_or_default()).collect();
                self.call(at, args, depth)
            }
            "while" => {
                let state = loops::state(graph, at, operand(0));
                self.pass(at, 0, vec![state], depth);
                self.pass(at, 1, vec![Known::of(shape)], depth);
                Known::of(shape)
            }
            "conditional" => {
                for number in 0..inst.called_computation_ids.len() {
                    let branch = operand(number + 1).cloned().unwrap_or_default();
                    self.pass(at, number, vec![branch], depth);
                }
                Known::of(shape)
            }
            _ if shape.is_some_and(ShapeProto::is_tuple) => Known::of(shape),
            _ => match shape.and_then(ShapeProto::dtype).and_then(IntRange::of) {
                None => Known::default(),
                Some(all) => {
                    let range = transfer::result(graph, at, |number| operand(number).map_or(IntRange::ALL, Known::one));
                    // What does not fit the type is cut to it.
                    Known::One(range.filter(|range| range.within(all)).unwrap_or(all))
                }
            },
        }
    }

    /// Remembers what is passed to a callee, when the caller itself is looked at and not for one of its calls.
    fn pass(&mut self, at: usize, number: usize, args: Vec<Known>, depth: usize) {
        let Some(callee) = self.graph.callee(at, number).filter(|_| depth == 0) else { return };
        self.params[callee] = Some(match self.params[callee].take() {
            Some(params) => params.iter().zip(&args).map(|(param, arg)| param.union(arg)).collect(),
            None => args,
        });
    }

    fn call(&mut self, at: usize, args: Vec<Known>, depth: usize) -> Known {
        let anything = Known::of(self.graph.inst(at).shape.as_deref());
        self.pass(at, 0, args.clone(), depth);
        let Some(callee) = self.graph.callee(at, 0) else { return anything };
        if anything.is_float() || depth == MAX_DEPTH {
            return anything;
        }
        let key = (callee, args);
        if let Some(result) = self.called.get(&key) {
            return result.within(self.graph.inst(at).shape.as_deref());
        }
        let computation = &self.graph.computations()[callee];
        let (size, root) = (computation.end - computation.first, self.graph.root(callee));
        let (Some(root), Some(left)) = (root.map(|root| root - computation.first), self.work.checked_sub(size)) else {
            return anything;
        };
        self.work = left;
        let result = self.evaluate(callee, &key.1, depth + 1).swap_remove(root);
        self.called.insert(key, result.clone());
        result.within(self.graph.inst(at).shape.as_deref())
    }
}

#[cfg(test)]
mod tests;
