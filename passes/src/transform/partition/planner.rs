//! Placing a function, one instruction after another.

use super::decide::{Decision, Passing, Question, decide, passing};
use super::fact::{Atoms, Fact, Place, block};
use super::known::{Known, narrows_terms};
use super::plan::{Given, Key, Plan, Plans, Step};
use halite_ir::{FuncId, FuncResult, Function, InferCx, Inst, Op, ResultRole, Value};
use halite_support::{Diagnostic, Result, check_cancelled};
use halite_tensor::{AtomId, Sharding};
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
    pub(super) wishes: Vec<Option<Sharding>>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(given: &'a Given<'a>, cx: &'a InferCx<'a>, plans: &'a Plans, key: &'a Key) -> Result<Self> {
        let function = cx.function(key.function).ok_or_else(|| Diagnostic::bug("a call of no function"))?;
        Ok(Self {
            known: given.functions.of(given.reduce, key.function, function),
            wishes: vec![None; function.values.len()],
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
                .map(|value| Fact::at(Place::of(Sharding::replicated(value.ty.rank()))))
                .collect(),
            settled: vec![None; function.values.len()],
            results: Vec::new(),
            wanted: Vec::new(),
            terms: vec![Atoms::new(); function.params.len()],
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
        let wishes: Vec<_> = inst.results.iter().map(|result| self.wishes[result.index()].clone()).collect();
        let decision = self.decision(draft, inst, at, &wishes);
        for (&arg, place) in inst.args.iter().zip(&decision.operands) {
            self.read_as_terms(draft, arg, &place.partial);
        }
        for (&result, place) in inst.results.iter().zip(&decision.results) {
            draft.facts[result.index()] = self.fact(draft, inst, at, result, place.clone());
        }
        Step { decision, callee: None }
    }

    /// Where an instruction of a plan would be computed if its results were wished for there.
    pub(super) fn again(&self, plan: &Plan, inst: &Inst, at: usize, wishes: &[Option<Sharding>]) -> Decision {
        let read = |(&arg, place): (&Value, &Place)| {
            let fact = plan.facts[arg.index()].clone();
            match &plan.settled[arg.index()] {
                Some(settled) if place.partial == settled.partial => Fact { place: settled.clone(), ..fact },
                _ => fact,
            }
        };
        let facts: Vec<Fact> = inst.args.iter().zip(&plan.steps[at].decision.operands).map(read).collect();
        let bytes: Vec<u64> = inst.args.iter().map(|&arg| self.function.ty(arg).bytes()).collect();
        self.known.decided(at, &facts, wishes).unwrap_or_else(|| {
            let question = self.question(inst, at, (&facts, &bytes), wishes);
            let passing = passing(&question);
            let decision = decide(&question, &passing);
            // With a sum that is still to be settled the answer is not that of where it is read.
            if passing.iter().all(|passing| matches!(passing, Passing::As(_))) {
                self.known.keep(at, facts, wishes, &decision);
            }
            decision
        })
    }

    fn question<'q>(
        &'q self,
        inst: &Inst,
        at: usize,
        (facts, bytes): (&'q [Fact], &'q [u64]),
        wishes: &'q [Option<Sharding>],
    ) -> Question<'q> {
        let rounds = inst.rounding.is_some() && !narrows_terms(self.given.reduce, self.function, inst);
        Question { map: &self.known.maps[at], linear: self.known.linear[at], rounds, facts, bytes, wishes }
    }

    /// Where an instruction is computed. Sums that it needs are settled.
    fn decision(&self, draft: &mut Plan, inst: &Inst, at: usize, wishes: &[Option<Sharding>]) -> Decision {
        let bytes: Vec<u64> = inst.args.iter().map(|&arg| self.function.ty(arg).bytes()).collect();
        loop {
            let facts: Vec<Fact> = inst.args.iter().map(|&arg| self.now(draft, arg)).collect();
            if let Some(decision) = self.known.decided(at, &facts, wishes) {
                return decision;
            }
            let question = self.question(inst, at, (&facts, &bytes), wishes);
            let passing = passing(&question);
            let needed = inst.args.iter().zip(&passing).filter_map(|(&arg, passing)| match passing {
                Passing::Settled(rest) => Some((arg, rest.clone())),
                Passing::As(_) => None,
            });
            let needed: Vec<(Value, Atoms)> = needed.collect();
            if needed.is_empty() {
                let decision = decide(&question, &passing);
                self.known.keep(at, facts, wishes, &decision);
                return decision;
            }
            for (value, rest) in needed {
                self.settle(draft, value, &rest);
            }
        }
    }

    /// What is known of a value where it is read. A sum that is read more than once is made at once: passed on, it would be made several times.
    /// One that is read in shares is scattered to them at once.
    fn now(&self, draft: &mut Plan, value: Value) -> Fact {
        let place = &draft.facts[value.index()].place;
        let wish = self.wishes[value.index()].as_ref();
        let scattered = |atom: &AtomId| wish.is_some_and(|wish| wish.find(*atom).is_some());
        let is_single = self.known.uses[value.index()] == 1;
        let rest: Atoms = place.partial.iter().copied().filter(|atom| is_single && !scattered(atom)).collect();
        self.settle(draft, value, &rest);
        let fact = draft.facts[value.index()].clone();
        match &draft.settled[value.index()] {
            Some(settled) => Fact { place: settled.clone(), ..fact },
            None => fact,
        }
    }

    /// Says where the sum of which a value is terms lies: where it is wished for, else in shares of the sequence, else on all. Along `rest` it
    /// stays terms.
    fn settle(&self, draft: &mut Plan, value: Value, rest: &Atoms) {
        let Fact { place, sequence, .. } = &draft.facts[value.index()];
        let settled = draft.settled[value.index()].as_ref().is_some_and(|settled| settled.partial.len() <= rest.len());
        if place.partial.len() <= rest.len() || settled {
            return;
        }
        let shape = self.function.ty(value).shape();
        let mut sharding = self.wishes[value.index()].clone().unwrap_or_else(|| place.sharding.clone());
        let elsewhere = sharding != place.sharding;
        let free = |atom: &&AtomId| place.partial.contains(atom) && !rest.contains(atom);
        // One number for each position is little, and what reads it has all positions.
        let wide = |dim: &&usize| shape[**dim + 1..].iter().product::<usize>() > 1;
        if let (Some(dim), false) = (sequence.as_ref().filter(wide), elsewhere) {
            for &atom in self.given.along_sequence.iter().filter(free) {
                if let Some(digit) = block(self.given.mesh, &sharding, shape[*dim], *dim, atom) {
                    sharding = sharding.with(*dim, digit);
                }
            }
        }
        draft.settled[value.index()] = Some(Place { sharding, partial: rest.clone() });
    }

    /// Notes that a parameter that is zero is read as terms of a sum.
    fn read_as_terms(&self, draft: &mut Plan, arg: Value, partial: &Atoms) {
        let param = self.function.params.iter().position(|param| param.value == arg);
        if let Some(param) = param.filter(|&param| self.key.params[param].zero) {
            draft.terms[param] = partial.clone();
        }
    }

    fn fact(&self, draft: &Plan, inst: &Inst, at: usize, result: Value, place: Place) -> Fact {
        let moves = matches!(inst.op, Op::Convert(_) | Op::Reshape(_) | Op::Transpose(_));
        let first = inst.args.first().map(|&arg| &draft.facts[arg.index()]);
        let zero = match &inst.op {
            Op::Constant(constant) => constant.splat_value() == Some(0.0),
            Op::BroadcastInDim(_) => first.is_some_and(|fact| fact.zero),
            _ => moves && first.is_some_and(|fact| fact.zero),
        };
        let stationary = moves && first.is_some_and(|fact| fact.stationary);
        Fact { place, stationary, zero, sequence: self.sequence(draft, inst, at, result) }
    }

    /// Which dimension of a result counts the positions of a sequence.
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
        let mut key = Key { function, params, wishes: Vec::new() };
        let mut plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        let wishes = self.unmet(inst, plan);
        if wishes.iter().any(Option::is_some) {
            key.wishes = wishes;
            plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        }
        if plan.terms.iter().any(|atoms| !atoms.is_empty()) {
            for (fact, atoms) in key.params.iter_mut().zip(&plan.terms).filter(|(_, atoms)| !atoms.is_empty()) {
                fact.place.partial = atoms.clone();
                fact.zero = false;
            }
            plan = self.plans.get(&key).ok_or_else(|| key.clone())?;
        }
        for (&result, fact) in inst.results.iter().zip(&plan.results) {
            draft.facts[result.index()] = fact.clone();
        }
        let operands = key.params.iter().map(|fact| fact.place.clone()).collect();
        let results = plan.results.iter().map(|fact| fact.place.clone()).collect();
        Ok(Step { decision: Decision { operands, results, reduce: None }, callee: Some(Rc::new(key)) })
    }

    /// Where results of a call are wished for and are not of themselves. Sums are left to the caller, who may add to them.
    fn unmet(&self, inst: &Inst, plan: &Plan) -> Vec<Option<Sharding>> {
        let unmet = |(result, fact): (&Value, &Fact)| {
            let wish = self.wishes[result.index()].as_ref();
            wish.filter(|wish| fact.place.is_whole() && **wish != fact.place.sharding).cloned()
        };
        inst.results.iter().zip(&plan.results).map(unmet).collect()
    }

    /// Where a result is returned: state where what it replaces lies, what people read on all ranks, the rest where it is.
    fn returned(&self, draft: &mut Plan, result: &FuncResult) -> Fact {
        let target = self.returned_at(&result.role, self.function.ty(result.value).rank());
        match target {
            // Sums that go on stay terms.
            Some(place) if !place.is_whole() => Fact { place, ..draft.facts[result.value.index()].clone() },
            Some(place) => {
                self.settle(draft, result.value, &Atoms::new());
                Fact { place, ..self.now(draft, result.value) }
            }
            None => self.now(draft, result.value),
        }
    }

    /// Where a result has to lie, for one of the entry that says so by its role.
    pub(super) fn returned_at(&self, role: &ResultRole, rank: usize) -> Option<Place> {
        match role {
            ResultRole::State(name) | ResultRole::Gradient(name) => self.given.state.get(&**name).cloned(),
            ResultRole::Value | ResultRole::Probe | ResultRole::Residual => None,
            ResultRole::Metric | ResultRole::Finite | ResultRole::Scale(_) => {
                Some(Place::of(Sharding::replicated(rank)))
            }
            role => role.is_sum().then(|| Place::of(Sharding::replicated(rank))),
        }
        .filter(|_| self.is_entry())
    }

    fn is_entry(&self) -> bool {
        self.key.function.index() + 1 == self.cx.functions.len()
    }
}
