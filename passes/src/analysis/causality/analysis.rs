//! The walk over functions, calls and composites.

use super::assumption::Assumptions;
use super::levels::Level;
use super::state::State;
use super::transfer::{States, TransferCx, convert, is_capped, transfer};
use halite_ir::{Composite, FuncId, Function, Inst, Module, Op, Registry, TensorType, Value};
use halite_support::{Result, check_cancelled};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// What is known of every value of a function.
pub(super) type ValueStates = Vec<Rc<State>>;

/// What is known of the results of a function, given what is known of its parameters.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) results: Vec<Rc<State>>,
    pub(super) assumptions: Assumptions,
}

/// A function that is gone into: a callee or the decomposition of a composite.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Callee {
    Function(usize),
    Composite(Composite, Vec<TensorType>),
}

/// Analyses functions of one module. What layers repeat is analysed once.
#[derive(Debug)]
pub(super) struct Analysis<'a> {
    module: &'a Module,
    registry: &'a Registry,
    summaries: FxHashMap<(Callee, Vec<Rc<State>>), Rc<Summary>>,
    pub(super) assumptions: Assumptions,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(module: &'a Module, registry: &'a Registry) -> Self {
        Self { module, registry, summaries: FxHashMap::default(), assumptions: Assumptions::default() }
    }

    /// A function of the module.
    pub(super) fn function(&self, id: FuncId) -> &'a Function {
        self.module.function(id)
    }

    /// What is known of the values of a function, of which only those that `wanted` asks for are looked at.
    ///
    /// # Errors
    /// When a composite cannot be decomposed.
    pub(super) fn run(&mut self, function: &Function, params: &[Rc<State>], wanted: &[bool]) -> Result<ValueStates> {
        let unknown = Rc::new(State::default());
        let mut known: ValueStates = vec![unknown; function.values.len()];
        for (param, state) in function.params.iter().zip(params) {
            known[param.value.index()] = state.clone();
        }
        for inst in &function.insts {
            check_cancelled()?;
            if !inst.results.iter().any(|result| wanted[result.index()]) {
                continue;
            }
            let args: SmallVec<[Rc<State>; 4]> = inst.args.iter().map(|arg| known[arg.index()].clone()).collect();
            for (result, state) in inst.results.iter().zip(self.apply(function, inst, &args)?) {
                known[result.index()] = state;
            }
        }
        Ok(known)
    }

    /// What is known of the results of an instruction, given what is known of its operands.
    ///
    /// # Errors
    /// When a composite cannot be decomposed.
    pub(super) fn apply(&mut self, function: &Function, inst: &Inst, args: &[Rc<State>]) -> Result<Vec<Rc<State>>> {
        let callee = match &inst.op {
            Op::Call(_) if self.rounds(inst) => {
                return Ok(vec![Rc::new(self.rounded(function, inst, args))]);
            }
            Op::Call(call) => Callee::Function(call.callee.index()),
            Op::KernelCall(call) => Callee::Function(call.decomposition.index()),
            Op::Composite(composite) => {
                Callee::Composite(composite.clone(), inst.args.iter().map(|&arg| function.ty(arg).clone()).collect())
            }
            _ => return Ok(self.primitive(function, inst, args).into_iter().map(Rc::new).collect()),
        };
        let summary = self.summary(callee, args)?;
        self.assumptions.add_all(&summary.assumptions);
        Ok(summary.results.clone())
    }

    /// Whether an instruction calls a helper that rounds at random.
    fn rounds(&self, inst: &Inst) -> bool {
        matches!(&inst.op, Op::Call(call) if self.function(call.callee).rounds)
    }

    /// What a helper that rounds at random makes of its first operand: what the narrow type holds stays as it is.
    fn rounded(&self, function: &Function, inst: &Inst, args: &[Rc<State>]) -> State {
        let (from, to) = (function.ty(inst.args[0]).dtype(), function.ty(inst.results[0]).dtype());
        let x = &args[0];
        let held = |level: &Level| level.rounded(to) == *level;
        let (levels, lost) = x.map_levels(|level| Some(level).filter(held));
        let mut state = convert(&State { levels, number: None, table: None, ..(**x).clone() }, from, to);
        if lost {
            state.forget_fills();
        }
        args[1..].iter().for_each(|arg| state.flow.join(&arg.flow));
        state
    }

    fn primitive(&mut self, function: &Function, inst: &Inst, args: &[Rc<State>]) -> States {
        transfer(&mut TransferCx {
            inst,
            args: args.iter().map(|arg| &**arg).collect(),
            types: inst.args.iter().map(|&arg| function.ty(arg)).collect(),
            results: inst.results.iter().map(|&result| function.ty(result)).collect(),
            capped: matches!(inst.op, Op::Exponential(_)) && is_capped(function, inst, &|inst| self.rounds(inst)),
            assumptions: &mut self.assumptions,
        })
    }

    fn summary(&mut self, callee: Callee, args: &[Rc<State>]) -> Result<Rc<Summary>> {
        let key = (callee, args.to_vec());
        if let Some(summary) = self.summaries.get(&key) {
            return Ok(summary.clone());
        }
        let decomposed;
        let function = match &key.0 {
            Callee::Function(index) => &self.module.functions[*index],
            Callee::Composite(composite, types) => {
                decomposed = composite.decompose(self.registry, &types.iter().collect::<Vec<_>>())?;
                &decomposed
            }
        };
        let outer = std::mem::take(&mut self.assumptions);
        let known = self.run(function, args, &needed(function, |_| true))?;
        let assumptions = std::mem::replace(&mut self.assumptions, outer);
        let results = function.results.iter().map(|result| known[result.value.index()].clone()).collect();
        let summary = Rc::new(Summary { results, assumptions });
        self.summaries.insert(key, summary.clone());
        Ok(summary)
    }
}

/// For each value, whether some of the results that `which` picks, by position, depend on it.
pub(super) fn needed(function: &Function, which: impl Fn(usize) -> bool) -> Vec<bool> {
    let picked = function.results.iter().enumerate().filter(|(at, _)| which(*at));
    needed_values(function, picked.map(|(_, result)| result.value))
}

/// For each value, whether some of these depend on it.
pub(super) fn needed_values(function: &Function, values: impl Iterator<Item = Value>) -> Vec<bool> {
    let mut needed = vec![false; function.values.len()];
    values.for_each(|value| needed[value.index()] = true);
    for inst in function.insts.iter().rev() {
        if inst.results.iter().any(|result: &Value| needed[result.index()]) {
            inst.args.iter().for_each(|arg| needed[arg.index()] = true);
        }
    }
    needed
}
