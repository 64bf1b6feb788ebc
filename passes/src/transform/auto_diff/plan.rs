//! Chooses the derivatives of functions that are made.

use super::is_trained;
use halite_ir::{FuncId, Function, Module, Value};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// The most instructions of a module with its derivatives. A function has as many of these as there are sets of parameters
/// that somebody wants the gradient by.
const MAX_INSTS: usize = 1 << 20;

/// A derivative of a function: of the results that may have a cotangent, by the wanted parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Derivative {
    pub(super) callee: FuncId,
    pub(super) present: SmallVec<[bool; 4]>,
    pub(super) wanted: SmallVec<[bool; 4]>,
}

/// The derivatives that the objective needs, callers before callees.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) derivatives: IndexSet<Derivative, FxBuildHasher>,
    /// For the entry, then for each of these, which derivative each instruction calls.
    calls: Vec<Vec<Option<usize>>>,
}

impl Plan {
    /// For the gradient of `objective` in `entry`, which calls functions of `module`.
    ///
    /// # Errors
    /// When the derivatives would be too large.
    pub(super) fn of(module: &Module, entry: &Function, objective: Value) -> Result<Self> {
        let mut plan = Self { derivatives: IndexSet::default(), calls: Vec::new() };
        let trained: Vec<Value> =
            entry.params.iter().filter(|param| is_trained(param)).map(|param| param.value).collect();
        plan.add_calls(entry, &trained, &[objective]);
        let (mut next, mut insts) = (0, 0);
        while let Some(derivative) = plan.derivatives.get_index(next).cloned() {
            let callee = module.function(derivative.callee);
            insts += callee.insts.len();
            if insts > MAX_INSTS {
                let message =
                    format!("the derivatives of `@{}` and others take more than {MAX_INSTS} instructions", callee.name);
                return Err(Diagnostic::error(codes::LIMIT, message).help("run `inline` before `auto-diff`"));
            }
            let wanted = callee.params.iter().zip(&derivative.wanted).filter(|(_, wanted)| **wanted);
            let wanted: Vec<Value> = wanted.map(|(param, _)| param.value).collect();
            let present = callee.results.iter().zip(&derivative.present).filter(|(_, present)| **present);
            let present: Vec<Value> = present.map(|(result, _)| result.value).collect();
            plan.add_calls(callee, &wanted, &present);
            next += 1;
        }
        Ok(plan)
    }

    /// The derivative that each instruction of the entry calls, if any.
    pub(super) fn calls(&self) -> &[Option<usize>] {
        &self.calls[0]
    }

    /// The same for a derivative.
    pub(super) fn calls_of(&self, derivative: usize) -> &[Option<usize>] {
        &self.calls[derivative + 1]
    }

    fn add_calls(&mut self, function: &Function, wanted: &[Value], seeds: &[Value]) {
        let (useful, reached) = (useful(function, wanted), reached(function, seeds));
        let mut calls = vec![None; function.insts.len()];
        for (inst, own) in function.insts.iter().zip(&mut calls) {
            let Some(edge) = inst.call() else { continue };
            let present = inst.results.iter().map(|result| useful[result.index()] && reached[result.index()]);
            let wanted = inst.args.iter().map(|arg| useful[arg.index()]);
            let derivative = Derivative { callee: edge.callee, present: present.collect(), wanted: wanted.collect() };
            if derivative.present.contains(&true) {
                *own = Some(self.derivatives.insert_full(derivative).0);
            }
        }
        self.calls.push(calls);
    }
}

/// For each value of a function, whether it depends on a wanted one through floats.
pub(super) fn useful(function: &Function, wanted: &[Value]) -> Vec<bool> {
    let mut useful = vec![false; function.values.len()];
    for &value in wanted {
        useful[value.index()] = function.ty(value).dtype().is_float();
    }
    for inst in &function.insts {
        if inst.args.iter().any(|arg| useful[arg.index()]) {
            for &result in &inst.results {
                useful[result.index()] = function.ty(result).dtype().is_float();
            }
        }
    }
    useful
}

/// For each value of a function, whether one of the seeds may depend on it through floats.
fn reached(function: &Function, seeds: &[Value]) -> Vec<bool> {
    let mut reached = vec![false; function.values.len()];
    seeds.iter().for_each(|seed| reached[seed.index()] = true);
    for inst in function.insts.iter().rev() {
        if inst.results.iter().any(|result| reached[result.index()]) {
            inst.args.iter().for_each(|arg| reached[arg.index()] = function.ty(*arg).dtype().is_float());
        }
    }
    reached
}
