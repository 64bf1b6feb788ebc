//! Placing a function, one instruction after another.

use super::decide::{Decision, Passing, Question, decide, passing};
use super::fact::{Fact, Placement, Read, SubAxes, block};
use super::known::{Known, rounds};
use super::plan::{Given, Key, Plan, Plans, Step};
use halite_ir::{FuncId, FuncResult, Function, InferCx, Inst, Op, ResultRole, Value};
use halite_support::{Diagnostic, Result, check_cancelled};
use halite_tensor::{Sharding, SubAxisId};
use std::rc::Rc;

/// A plan in the making.
pub(super) struct Planner<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) cx: &'a InferCx<'a>,
    pub(super) plans: &'a Plans,
    pub(super) key: &'a Key,
    pub(super) function: &'a Function,
    pub(super) known: Rc<Known>,
    /// For each value where it had better lie.
    pub(super) preferences: Vec<Option<Sharding>>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(given: &'a Given<'a>, cx: &'a InferCx<'a>, plans: &'a Plans, key: &'a Key) -> Result<Self> {
        let function = cx.function(key.function).ok_or_else(|| Diagnostic::bug("a call of no function"))?;
        Ok(Self {
            known: given.functions.of(given.reduce, key.function, function),
            preferences: vec![None; function.values.len()],
            given,
            cx,
            plans,
            key,
            function,
        })
    }

    /// Places one instruction after another, each by where its operands lie.
    pub(super) fn forward(&self) -> Result<std::result::Result<Plan, Key>> {
        let function = self.function;
        let mut draft = Plan {
            steps: Vec::with_capacity(function.insts.len()),
            facts: function
                .values
                .iter()
                .map(|value| Fact::at(Placement::of(Sharding::replicated(value.ty.rank()))))
                .collect(),
            materialized: vec![None; function.values.len()],
            results: Vec::new(),
            wanted: Vec::new(),
            terms: vec![SubAxes::new(); function.params.len()],
        };
        for (param, fact) in function.params.iter().zip(&self.key.params) {
            draft.facts[param.value.index()] = fact.clone();
        }
        for (at, inst) in function.insts.iter().enumerate() {
            check_cancelled()?;
            let step = match inst.call() {
                Some(edge) => match self.call(&mut draft, inst, edge.callee) {
                    Ok(step) => step,
                    Err(needed) => return Ok(Err(needed)),
                },
                None => self.step(&mut draft, inst, at),
            };
            draft.steps.push(step);
        }
        draft.results = function.results.iter().map(|result| self.returned(&mut draft, result)).collect();
        Ok(Ok(draft))
    }

    fn step(&self, draft: &mut Plan, inst: &Inst, at: usize) -> Step {
        let preferences: Vec<_> = inst.results.iter().map(|result| self.preferences[result.index()].clone()).collect();
        let decision = self.decision(draft, inst, at, &preferences);
        for (&arg, place) in inst.args.iter().zip(&decision.operands) {
            self.read_as_terms(draft, arg, &place.partial);
        }
        for (&result, place) in inst.results.iter().zip(&decision.results) {
            draft.facts[result.index()] = self.fact(draft, inst, at, result, place.clone());
        }
        Step { decision, callee: None }
    }

    /// The decision on an instruction of a plan if its results had these preferred shardings.
    pub(super) fn again(&self, plan: &Plan, inst: &Inst, at: usize, preferences: &[Option<Sharding>]) -> Rc<Decision> {
        let read = |(&arg, place): (&Value, &Placement)| {
            let read = plan.read(arg);
            if place.partial == read.place.partial { read } else { Read { place: &read.made.place, ..read } }
        };
        let reads: Vec<Read<'_>> = inst.args.iter().zip(&plan.steps[at].decision.operands).map(read).collect();
        self.known.decided(at, &reads, preferences).unwrap_or_else(|| {
            let facts: Vec<Fact> = reads.iter().map(|read| read.fact()).collect();
            let bytes: Vec<u64> = inst.args.iter().map(|&arg| self.function.ty(arg).bytes()).collect();
            let question = self.question(inst, at, (&facts, &bytes), preferences);
            let passing = passing(&question);
            let decision = Rc::new(decide(&question, &passing));
            // With a sum that is still to be materialized the answer is not that of where it is read.
            if passing.iter().all(|passing| matches!(passing, Passing::As(_))) {
                self.known.keep(at, facts, preferences, &decision);
            }
            decision
        })
    }

    fn question<'q>(
        &'q self,
        inst: &Inst,
        at: usize,
        (facts, bytes): (&'q [Fact], &'q [u64]),
        preferences: &'q [Option<Sharding>],
    ) -> Question<'q> {
        let rounds = rounds(self.given.reduce, self.function, inst);
        let repeats = matches!(inst.op, Op::BroadcastInDim(_));
        Question {
            map: &self.known.maps[at],
            linear: self.known.linear[at],
            rounds,
            repeats,
            facts,
            bytes,
            preferences,
        }
    }

    /// The decision on an instruction. Sums that it needs are materialized.
    fn decision(&self, draft: &mut Plan, inst: &Inst, at: usize, preferences: &[Option<Sharding>]) -> Rc<Decision> {
        loop {
            inst.args.iter().for_each(|&arg| self.settle(draft, arg));
            let reads: Vec<Read<'_>> = inst.args.iter().map(|&arg| draft.read(arg)).collect();
            if let Some(decision) = self.known.decided(at, &reads, preferences) {
                return decision;
            }
            let facts: Vec<Fact> = reads.iter().map(|read| read.fact()).collect();
            let bytes: Vec<u64> = inst.args.iter().map(|&arg| self.function.ty(arg).bytes()).collect();
            let question = self.question(inst, at, (&facts, &bytes), preferences);
            let passing = passing(&question);
            let needed = inst.args.iter().zip(&passing).filter_map(|(&arg, passing)| match passing {
                Passing::Settled(rest) => Some((arg, rest.clone())),
                Passing::As(_) => None,
            });
            let needed: Vec<(Value, SubAxes)> = needed.collect();
            if needed.is_empty() {
                let decision = Rc::new(decide(&question, &passing));
                self.known.keep(at, facts, preferences, &decision);
                return decision;
            }
            for (value, rest) in needed {
                self.materialize(draft, value, &rest);
            }
        }
    }

    /// The facts about a value where it is read.
    fn now(&self, draft: &mut Plan, value: Value) -> Fact {
        self.settle(draft, value);
        draft.read(value).fact()
    }

    /// Materializes a value that is read as far as that is due. A sum that is read more than once is made at once: passed on, it would be
    /// made several times, which is less where so was decided. One that is read in shards is scattered to them at once.
    fn settle(&self, draft: &mut Plan, value: Value) {
        let place = &draft.facts[value.index()].place;
        let preference = self.preferences[value.index()].as_ref();
        let scattered =
            |sub_axis: &SubAxisId| preference.is_some_and(|preference| preference.find(*sub_axis).is_some());
        let is_single = self.known.uses[value.index()] == 1;
        let passes = self.given.delayed.passes(self.key.function, value).unwrap_or(is_single);
        let rest: SubAxes = place.partial.iter().copied().filter(|sub_axis| passes && !scattered(sub_axis)).collect();
        self.materialize(draft, value, &rest);
    }

    /// Sets the placement of the sum of a value that is a partial sum: its preferred sharding, else shards of the sequence, else on all
    /// ranks. Along `rest` it stays partial.
    fn materialize(&self, draft: &mut Plan, value: Value, rest: &SubAxes) {
        let Fact { place, sequence, .. } = &draft.facts[value.index()];
        let materialized = draft.materialized[value.index()]
            .as_ref()
            .is_some_and(|materialized| materialized.partial.len() <= rest.len());
        if place.partial.len() <= rest.len() || materialized {
            return;
        }
        let shape = self.function.ty(value).shape();
        let mut sharding = self.preferences[value.index()].clone().unwrap_or_else(|| place.sharding.clone());
        let elsewhere = sharding != place.sharding;
        let free = |sub_axis: &&SubAxisId| place.partial.contains(sub_axis) && !rest.contains(sub_axis);
        // One number for each position is little, and what reads it has all positions.
        let wide = |dim: &&usize| shape[**dim + 1..].iter().product::<usize>() > 1;
        if let (Some(dim), false) = (sequence.as_ref().filter(wide), elsewhere) {
            for &sub_axis in self.given.along_sequence.iter().filter(free) {
                if let Some(digit) = block(self.given.mesh, &sharding, shape[*dim], *dim, sub_axis) {
                    sharding = sharding.with(*dim, digit);
                }
            }
        }
        draft.materialized[value.index()] = Some(Placement { sharding, partial: rest.clone() });
    }

    /// Notes that a parameter that is zero is read as terms of a sum.
    fn read_as_terms(&self, draft: &mut Plan, arg: Value, partial: &SubAxes) {
        if !draft.facts[arg.index()].zero {
            return;
        }
        let param = self.function.params.iter().position(|param| param.value == arg);
        if let Some(param) = param.filter(|&param| self.key.params[param].zero) {
            draft.terms[param] = partial.clone();
        }
    }

    fn fact(&self, draft: &Plan, inst: &Inst, at: usize, result: Value, place: Placement) -> Fact {
        let moves = matches!(inst.op, Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_));
        let first = inst.args.first().map(|&arg| &draft.facts[arg.index()]);
        let zero = match &inst.op {
            Op::Constant(constant) => constant.splat_value() == Some(0.0),
            Op::BroadcastInDim(_) => first.is_some_and(|fact| fact.zero),
            _ => moves && first.is_some_and(|fact| fact.zero),
        };
        let stationary = moves && first.is_some_and(|fact| fact.stationary);
        let stored = first.filter(|_| moves).map(|fact| fact.stored.clone()).unwrap_or_default();
        let stored = stored.into_iter().filter(|&sub_axis| place.sharding.find(sub_axis).is_some()).collect();
        Fact { place, stationary, stored, zero, sequence: self.sequence(draft, inst, at, result) }
    }

    /// The dimension of a result that counts the positions of a sequence.
    fn sequence(&self, draft: &Plan, inst: &Inst, at: usize, result: Value) -> Option<usize> {
        let map = &self.known.maps[at];
        let dims = &map.results[inst.results.iter().position(|&other| other == result)?];
        inst.args.iter().zip(&map.operands).find_map(|(arg, operand)| {
            let dim = draft.facts[arg.index()].sequence?;
            if matches!(inst.op, Op::Slice(_) | Op::Pad(_)) {
                return Some(dim);
            }
            let [factor] = operand[dim][..] else { return None };
            dims.iter().position(|factors| factors[..] == [factor])
        })
    }

    /// A call: of a function for which there is a plan with these arguments, or that is needed.
    fn call(&self, draft: &mut Plan, inst: &Inst, function: FuncId) -> std::result::Result<Step, Key> {
        let params = inst.args.iter().map(|&arg| self.now(draft, arg)).collect();
        let mut key = Key { function, params, preferences: Vec::new() };
        let mut plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        let preferences = self.unmet(inst, plan);
        if preferences.iter().any(Option::is_some) {
            key.preferences = preferences;
            plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        }
        if plan.terms.iter().any(|sub_axes| !sub_axes.is_empty()) {
            for (fact, sub_axes) in key.params.iter_mut().zip(&plan.terms).filter(|(_, sub_axes)| !sub_axes.is_empty())
            {
                fact.place.partial = sub_axes.clone();
                fact.zero = false;
            }
            plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        }
        for (&result, fact) in inst.results.iter().zip(&plan.results) {
            draft.facts[result.index()] = fact.clone();
        }
        let operands = key.params.iter().map(|fact| fact.place.clone()).collect();
        let results = plan.results.iter().map(|fact| fact.place.clone()).collect();
        let decision = Rc::new(Decision { operands, results, reduce: None });
        Ok(Step { decision, callee: Some(Rc::new(key)) })
    }

    /// The preferred shardings that the results of a call do not have of themselves. Sums are left to the caller, who may add to them.
    fn unmet(&self, inst: &Inst, plan: &Plan) -> Vec<Option<Sharding>> {
        let unmet = |(result, fact): (&Value, &Fact)| {
            let preference = self.preferences[result.index()].as_ref();
            preference.filter(|preference| fact.place.is_whole() && **preference != fact.place.sharding).cloned()
        };
        inst.results.iter().zip(&plan.results).map(unmet).collect()
    }

    /// The facts about a result where it is returned: state has the placement of the parameter that it replaces, what people read is on
    /// all ranks, the rest stays where it is.
    fn returned(&self, draft: &mut Plan, result: &FuncResult) -> Fact {
        let target = self.returned_at(&result.role, self.function.ty(result.value).rank());
        match target {
            // Sums that go on stay terms.
            Some(place) if !place.is_whole() => Fact { place, ..draft.facts[result.value.index()].clone() },
            Some(place) => {
                self.materialize(draft, result.value, &SubAxes::new());
                Fact { place, ..self.now(draft, result.value) }
            }
            None => self.now(draft, result.value),
        }
    }

    /// The placement that a result of the entry must have by its role; `None` if its role asks for none.
    pub(super) fn returned_at(&self, role: &ResultRole, rank: usize) -> Option<Placement> {
        match role {
            ResultRole::State(name) | ResultRole::Gradient(name) => self.given.state.get(&**name).cloned(),
            ResultRole::Value | ResultRole::Probe | ResultRole::Residual => None,
            ResultRole::Metric | ResultRole::Finite | ResultRole::Scale(_) => {
                Some(Placement::of(Sharding::replicated(rank)))
            }
            role => role.is_sum().then(|| Placement::of(Sharding::replicated(rank))),
        }
        .filter(|_| self.is_entry())
    }

    fn is_entry(&self) -> bool {
        self.key.function.index() + 1 == self.cx.functions.len()
    }
}
