//! Chooses the derivatives of functions that are made.

use super::is_trained;
use halite_ir::ops::CallWithGradient;
use halite_ir::{FuncId, Function, Inst, Module, Op, Value};
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
    /// Where the callee itself gives the gradient of its values.
    pub(super) given: Option<Given>,
    pub(super) present: SmallVec<[bool; 4]>,
    pub(super) wanted: SmallVec<[bool; 4]>,
}

/// The parts of a function that gives its own gradient.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Given {
    /// The number of parameters that are operands, before the cotangents.
    pub(super) operands: usize,
    /// The number of results that are values, before the gradients.
    pub(super) values: usize,
}

impl Given {
    /// That which an instruction states.
    ///
    /// # Errors
    /// When the callee is none, or `function` itself reads the gradients.
    fn of(module: &Module, function: &Function, inst: &Inst) -> Result<Option<Self>> {
        let Op::CallWithGradient(call) = &inst.op else { return Ok(None) };
        let operands = CallWithGradient::operands(module.function(call.callee), call.values);
        let checked = operands.and_then(|operands| {
            check_unread(function, &inst.results[call.values..])?;
            Ok(Some(Self { operands, values: call.values }))
        });
        checked.map_err(|error| error.or_at(module.locs.span(inst.loc), "the call"))
    }
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
        plan.add_calls(module, entry, &trained, &[objective])?;
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
            if derivative.given.is_some() {
                plan.calls.push(vec![None; callee.insts.len()]);
            } else {
                plan.add_calls(module, callee, &wanted, &present)?;
            }
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

    fn add_calls(&mut self, module: &Module, function: &Function, wanted: &[Value], seeds: &[Value]) -> Result<()> {
        let (useful, reached) = (useful(function, wanted), reached(function, seeds));
        let mut calls = vec![None; function.insts.len()];
        for (inst, own) in function.insts.iter().zip(&mut calls) {
            let Some(edge) = inst.call() else { continue };
            let given = Given::of(module, function, inst)?;
            let values = &inst.results[..given.map_or(inst.results.len(), |given| given.values)];
            let mut present: SmallVec<[bool; 4]> =
                values.iter().map(|result| useful[result.index()] && reached[result.index()]).collect();
            if !present.contains(&true) {
                continue;
            }
            if given.is_some() {
                // It takes a cotangent of each.
                present = values.iter().map(|&value| function.ty(value).dtype().is_float()).collect();
            }
            let wanted = inst.args.iter().map(|arg| useful[arg.index()]).collect();
            let derivative = Derivative { callee: edge.callee, given, present, wanted };
            *own = Some(self.derivatives.insert_full(derivative).0);
        }
        self.calls.push(calls);
        Ok(())
    }
}

/// Refuses to take gradients from a function where the program reads them itself.
fn check_unread(function: &Function, gradients: &[Value]) -> Result<()> {
    let read = function.insts.iter().flat_map(|inst| inst.args.iter().copied());
    let mut read = read.chain(function.results.iter().map(|result| result.value));
    if !read.any(|value| gradients.contains(&value)) {
        return Ok(());
    }
    let message = format!("`@{}` reads a gradient of `call_with_gradient`, which is for `auto-diff`", function.name);
    Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).help("read its values alone"))
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
