//! The values of all functions that ranks run, as one list.

use super::super::fact::SubAxes;
use super::super::known::Known;
use super::super::plan::{Given, Key, Plan, Plans};
use halite_ir::{FuncId, Function, InferCx, Inst, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The functions that ranks run, with what was decided about them. Their values have numbers, one after another.
pub(super) struct Program<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) entry: &'a Key,
    /// Those that run, callees first.
    pub(super) parts: Vec<Part<'a>>,
    /// For each function of the module where it is among the parts.
    at: Vec<Option<usize>>,
}

/// A function that runs.
pub(super) struct Part<'a> {
    pub(super) id: FuncId,
    pub(super) function: &'a Function,
    pub(super) known: Rc<Known>,
    /// Its plans: one for each set of placements of its operands.
    pub(super) plans: Vec<&'a Plan>,
    /// Its calls: the part that calls it, and the place of the instruction.
    pub(super) calls: Vec<(usize, usize)>,
    /// How often it runs in a run of the entry.
    times: u64,
    /// The number of its first value.
    first: usize,
}

impl<'a> Program<'a> {
    pub(super) fn new(cx: &InferCx<'a>, given: &'a Given<'a>, (plans, entry): (&'a Plans, &'a Key)) -> Self {
        let needed = plans.needed(entry);
        let mut parts: Vec<Part<'a>> = Vec::new();
        let mut at = vec![None; cx.functions.len()];
        let mut first = 0;
        for (index, function) in cx.functions.iter().enumerate() {
            let id = FuncId::new(index);
            let own = plans.done.iter().filter(|(key, _)| key.function == id && needed.contains(key));
            let own: Vec<&Plan> = own.map(|(_, plan)| &**plan).collect();
            if own.is_empty() {
                continue;
            }
            at[index] = Some(parts.len());
            let known = given.functions.of(given.reduce, id, function);
            parts.push(Part { id, function, known, plans: own, calls: Vec::new(), times: 0, first });
            first += function.values.len();
        }
        let mut program = Self { given, entry, parts, at };
        program.count();
        program
    }

    /// Finds the calls of each function, and how often each runs.
    fn count(&mut self) {
        if let Some(entry) = self.parts.last_mut() {
            entry.times = 1;
        }
        for caller in (0..self.parts.len()).rev() {
            let (function, times) = (self.parts[caller].function, self.parts[caller].times);
            for (at, inst) in function.insts.iter().enumerate() {
                let callee = inst.call().and_then(|edge| self.at[edge.callee.index()]);
                if let Some(callee) = callee {
                    self.parts[callee].calls.push((caller, at));
                    self.parts[callee].times = self.parts[callee].times.saturating_add(times);
                }
            }
        }
    }

    /// The part that an instruction calls.
    pub(super) fn callee(&self, inst: &Inst) -> Option<&Part<'a>> {
        self.at[inst.call()?.callee.index()].map(|at| &self.parts[at])
    }

    pub(super) fn num_values(&self) -> usize {
        self.parts.last().map_or(0, |part| part.first + part.function.values.len())
    }

    /// The value with a number.
    pub(super) fn value(&self, number: usize) -> (FuncId, Value) {
        let part = self.part(number);
        (part.id, Value::new(number - part.first))
    }

    fn part(&self, number: usize) -> &Part<'a> {
        &self.parts[self.parts.partition_point(|part| part.first <= number) - 1]
    }

    /// The number of places in its function that read a value.
    pub(super) fn reads(&self, number: usize) -> usize {
        let part = self.part(number);
        part.known.uses[number - part.first]
    }

    /// The bytes of a rank that summing a value over these sub-axes takes in a run of the entry.
    pub(super) fn bytes(&self, number: usize, along: &SubAxes) -> u128 {
        let part = self.part(number);
        let (value, ty) = (number - part.first, part.function.ty(Value::new(number - part.first)));
        let sharding = part.plans[0].facts[value].place.sharding.clone();
        let sharding = along.iter().fold(sharding, |sharding, &sub_axis| sharding.without(sub_axis));
        let wide =
            if ty.dtype().is_float() { self.given.reduce.size().max(ty.dtype().size()) } else { ty.dtype().size() };
        let elements = sharding.local_shape(ty.shape()).num_elements();
        elements as u128 * wide as u128 * u128::from(part.times)
    }

    /// The sub-axes along which values are partial sums that are read more than once.
    pub(super) fn read_again(&self) -> BTreeSet<SubAxes> {
        let of = |part: &Part<'a>| -> Vec<SubAxes> {
            let values = part.plans.iter().flat_map(|plan| plan.facts.iter().zip(&part.known.uses));
            let read_again = values.filter(|(fact, uses)| **uses > 1 && !fact.place.is_whole());
            read_again.map(|(fact, _)| fact.place.partial.clone()).collect()
        };
        self.parts.iter().flat_map(of).collect()
    }
}

impl Part<'_> {
    pub(super) fn number(&self, value: Value) -> usize {
        self.first + value.index()
    }

    /// Whether a value may be taken for terms of any sum: it is zero, or one number that one of the ranks adds.
    pub(super) fn joins(&self, value: Value) -> bool {
        let zero = self.plans.iter().all(|plan| plan.facts[value.index()].zero);
        zero || self.function.ty(value).rank() == 0
    }

    /// Whether a value is sharded along one of these sub-axes, in another dimension than that of positions, where it could be gathered.
    pub(super) fn is_sharded(&self, value: Value, along: &SubAxes) -> bool {
        let is_apart = |plan: &&Plan| {
            let fact = &plan.facts[value.index()];
            let found = along.iter().filter_map(|&sub_axis| fact.place.sharding.find(sub_axis));
            found.into_iter().any(|(dim, _)| fact.sequence != Some(dim))
        };
        self.plans.iter().any(is_apart)
    }
}
