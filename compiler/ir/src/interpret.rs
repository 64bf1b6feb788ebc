//! The reference interpreter: the meaning of a module.
//!
//! One function runs on inputs stacked over ranks, in step: at each instruction the op sees the operands of every rank,
//! which is all that collectives need.

mod stochastic;

use crate::ops::Op;
use crate::registry::Registry;
use crate::syntax::{FuncId, Function, Inst, Module};
use crate::ty::TensorType;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;

/// The context of the evaluation of an op, besides its operands.
#[derive(Clone, Copy, Debug)]
pub struct EvalCx<'a> {
    /// Functions that may be called.
    pub functions: &'a [Function],
    /// Known composites.
    pub registry: &'a Registry,
    /// The types of the results.
    pub results: &'a [TensorType],
}

impl EvalCx<'_> {
    /// The type of the only result.
    pub fn result(&self) -> &TensorType {
        &self.results[0]
    }

    /// A function that may be called.
    pub fn function(&self, id: FuncId) -> Option<&Function> {
        self.functions.get(id.index())
    }
}

/// Runs functions on host tensors.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'a> {
    functions: &'a [Function],
    registry: &'a Registry,
}

impl<'a> Interpreter<'a> {
    /// An interpreter for functions that may call `functions`.
    pub fn new(functions: &'a [Function], registry: &'a Registry) -> Self {
        Self { functions, registry }
    }

    /// An interpreter for the functions of a module.
    pub fn of(module: &'a Module, registry: &'a Registry) -> Self {
        Self::new(&module.functions, registry)
    }

    /// Runs a function on one rank.
    ///
    /// # Errors
    /// When the inputs do not fit the parameters or an instruction has no meaning on them.
    pub fn run(&self, function: &Function, inputs: Vec<HostTensor>) -> Result<Vec<HostTensor>> {
        let mut ranks = self.run_ranks(function, vec![inputs])?;
        Ok(ranks.swap_remove(0))
    }

    /// Runs a function on every rank: `inputs[rank][parameter]` to `results[rank][result]`.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_ranks(&self, function: &Function, inputs: Vec<Vec<HostTensor>>) -> Result<Vec<Vec<HostTensor>>> {
        let mut frames = Vec::with_capacity(inputs.len());
        for inputs in inputs {
            check_inputs(function, &inputs)?;
            let mut frame: Vec<Option<HostTensor>> = vec![None; function.values.len()];
            for (param, input) in function.params.iter().zip(inputs) {
                frame[param.value.index()] = Some(input);
            }
            frames.push(frame);
        }
        let last_uses = last_uses(function);
        for (position, inst) in function.insts.iter().enumerate() {
            let results = self.step(function, inst, &frames)?;
            for (frame, results) in frames.iter_mut().zip(results) {
                for (&value, result) in inst.results.iter().zip(results) {
                    frame[value.index()] = Some(result);
                }
                for &arg in &inst.args {
                    if last_uses[arg.index()] == Some(position) {
                        frame[arg.index()] = None;
                    }
                }
            }
        }
        let take = |frame: &Vec<Option<HostTensor>>| {
            let result = |value: usize| frame[value].clone().ok_or_else(|| undefined(function));
            function.results.iter().map(|r| result(r.value.index())).collect()
        };
        frames.iter().map(take).collect()
    }

    fn step(
        &self,
        function: &Function,
        inst: &Inst,
        frames: &[Vec<Option<HostTensor>>],
    ) -> Result<Vec<Vec<HostTensor>>> {
        let mut args = Vec::with_capacity(frames.len());
        for frame in frames {
            let operand = |value: usize| frame[value].as_ref().ok_or_else(|| undefined(function));
            args.push(inst.args.iter().map(|arg| operand(arg.index())).collect::<Result<Vec<_>>>()?);
        }
        let types: Vec<_> = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
        let cx = EvalCx { functions: self.functions, registry: self.registry, results: &types };
        let results = match inst.stream() {
            Some(stream) => stochastic::eval(self, inst, stream, &types, &args)?,
            None => inst.op.def().eval_ranks(&cx, &args)?,
        };
        for result in &results {
            check_results(&inst.op, &types, result)?;
        }
        Ok(results)
    }
}

/// For each value the position of the last instruction that reads it; `None` when the function returns it.
fn last_uses(function: &Function) -> Vec<Option<usize>> {
    let mut last = vec![None; function.values.len()];
    for (position, inst) in function.insts.iter().enumerate() {
        for &arg in &inst.args {
            last[arg.index()] = Some(position);
        }
    }
    for result in &function.results {
        last[result.value.index()] = None;
    }
    last
}

fn undefined(function: &Function) -> Diagnostic {
    Diagnostic::bug(format!("`@{}` reads a value before it is defined", function.name))
}

fn check_inputs(function: &Function, inputs: &[HostTensor]) -> Result<()> {
    let error = |message| Err(Diagnostic::error(codes::EVALUATION, message));
    if inputs.len() != function.params.len() {
        let (name, expected) = (&function.name, function.params.len());
        return error(format!("`@{name}` takes {expected} inputs, found {}", inputs.len()));
    }
    for (param, input) in function.params.iter().zip(inputs) {
        let ty = function.ty(param.value);
        if ty.dtype() != input.dtype() || ty.shape() != input.shape() {
            let found = format!("{}{}", input.dtype(), input.shape());
            return error(format!("input `{}` is `{ty}`, found `{found}`", param.name));
        }
    }
    Ok(())
}

fn check_results(op: &Op, types: &[TensorType], results: &[HostTensor]) -> Result<()> {
    let agree = |(ty, result): (&TensorType, &HostTensor)| ty.dtype() == result.dtype() && ty.shape() == result.shape();
    if types.len() == results.len() && types.iter().zip(results).all(agree) {
        return Ok(());
    }
    Err(Diagnostic::bug(format!("`{}` evaluates to {results:?}, inferred {types:?}", op.name())))
}
