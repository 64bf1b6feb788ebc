//! The causality analysis as a forward walk: states go from operands to results, into calls, kernels and composites.

use super::assumption::Assumptions;
use super::levels::Level;
use super::state::State;
use super::transfer::{TransferCx, convert, is_capped, transfer};
use crate::forward::{At, Body, Forward, Walk};
use halite_ir::{Function, Inst, Module, Op, Registry, TensorType};
use halite_support::Result;
use std::rc::Rc;

/// The state of every value of a function.
pub(super) type ValueStates = Vec<Rc<State>>;

/// The walk of this analysis.
pub(super) type CausalityWalk<'a> = Walk<'a, Causality<'a>>;

/// The analysis of causality.
#[derive(Debug)]
pub(super) struct Causality<'a> {
    module: &'a Module,
    unknown: Rc<State>,
    pub(super) assumptions: Assumptions,
}

impl<'a> Causality<'a> {
    /// A walk over functions of one module.
    pub(super) fn walk(module: &'a Module, registry: &'a Registry) -> CausalityWalk<'a> {
        let own = Self { module, unknown: Rc::new(State::default()), assumptions: Assumptions::default() };
        Walk::new(Some(module), registry, own)
    }
}

impl Forward for Causality<'_> {
    type Fact = Rc<State>;
    type Aside = Assumptions;

    fn unknown(&self, _: &TensorType) -> Rc<State> {
        self.unknown.clone()
    }

    fn apply(&mut self, at: &At<'_>, args: &[Rc<State>]) -> Result<Vec<Rc<State>>> {
        let At { function, inst, .. } = at;
        if self.rounds(inst) {
            return Ok(vec![Rc::new(rounded(function, inst, args))]);
        }
        let states = transfer(&mut TransferCx {
            inst,
            args: args.iter().map(|arg| &**arg).collect(),
            types: inst.args.iter().map(|&arg| function.ty(arg)).collect(),
            results: inst.results.iter().map(|&result| function.ty(result)).collect(),
            capped: matches!(inst.op, Op::Exponential(_)) && is_capped(function, inst, &|inst| self.rounds(inst)),
            assumptions: &mut self.assumptions,
        });
        Ok(states.into_iter().map(Rc::new).collect())
    }

    fn body(&self, at: &At<'_>) -> Option<Body> {
        let callee = at.inst.op.callee().filter(|_| !self.rounds(at.inst));
        callee.map(Body::Function).or_else(|| Body::decomposition(at))
    }

    fn take(&mut self) -> Assumptions {
        std::mem::take(&mut self.assumptions)
    }

    fn add(&mut self, aside: &Assumptions) {
        self.assumptions.add_all(aside);
    }
}

impl Causality<'_> {
    /// Whether an instruction runs a helper that rounds at random.
    fn rounds(&self, inst: &Inst) -> bool {
        inst.op.callee().is_some_and(|callee| self.module.function(callee).rounds)
    }
}

/// The state of the result of a helper that rounds its first operand at random. Levels that the narrow type holds exactly stay.
fn rounded(function: &Function, inst: &Inst, args: &[Rc<State>]) -> State {
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
