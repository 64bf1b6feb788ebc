//! Forward and backward in one function, and the two made of it.

use super::couple::{Couple, Link};
use super::min_cut::{Node, keep};
use super::policy::{FunctionOf, Policy};
use super::price::{Price, Totals};
use crate::transform::needed::needed;
use halite_ir::{
    FuncId, FuncResult, Function, InferCx, Inst, LocTable, Module, Op, ParamRole, Registry, ResultRole, Rewriter,
    Value, ValueData, function_flops, inst_cost,
};
use halite_support::{Diagnostic, Name, Result};
use rustc_hash::FxHashSet;

/// A forward and its backward as one function: its parameters are those of the forward, then those that the backward has of its own;
/// its results those of the forward but for residuals, then those of the backward.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) function: Function,
    /// The number of parameters of the forward.
    args: usize,
    /// The number of results of the forward.
    results: usize,
    /// The number of values that a part of a pipeline hands from its forward to its backward: results, until they are
    /// [taken](Self::take_residuals).
    residuals: usize,
    /// For each value, whether the forward of a part makes it. Elsewhere the forward may make what only the backward reads.
    of_forward: Option<Vec<bool>>,
}

/// The sources of the values of the forward that the backward reads: arguments, kept values, or computing again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Choice {
    /// The arguments of the forward that the backward takes.
    pub(super) args: Vec<usize>,
    /// Those of them that are there without being kept.
    pub(super) free: Vec<usize>,
    /// The values that are kept.
    pub(super) kept: Vec<Value>,
    /// The instructions that the backward computes from these, by their positions in the joint function.
    pub(super) again: Vec<usize>,
}

/// The conditions of a choice.
#[derive(Clone, Copy)]
pub(super) struct Choices<'a> {
    pub(super) cx: InferCx<'a>,
    pub(super) locs: &'a LocTable,
    pub(super) policy: &'a Policy<'a>,
    /// The scope of the call of the forward.
    pub(super) scope: &'a str,
    pub(super) price: Price,
}

impl Joint {
    /// Of two functions of a module.
    pub(super) fn of(module: &mut Module, registry: &Registry, couple: &Couple) -> Result<Self> {
        let (forward, backward) = (module.function(couple.forward).clone(), module.function(couple.backward).clone());
        // What a callee hands to its own backward is settled there.
        let of_calls = residuals_of_calls(module, &forward);
        let mut b = Rewriter::new(module, registry, &forward);
        for inst in &forward.insts {
            b.copy(&forward, inst)?;
        }
        let results = forward.results.iter().filter(|result| result.role != ResultRole::Residual);
        for result in results.clone() {
            let value = b.value(result.value)?;
            b.named_result(value, result.name.clone(), result.role.clone());
        }
        let results = results.count();
        let mut args = Vec::with_capacity(backward.params.len());
        for (param, link) in backward.params.iter().zip(&couple.links) {
            args.push(match *link {
                Link::Arg(at) => b.value(forward.params[at].value)?,
                Link::Result(at) => b.value(forward.results[at].value)?,
                Link::Own => b.argument(&param.name, backward.ty(param.value).clone()),
            });
        }
        let outer = b.loc();
        let values = b.copy_body(&backward, &args, |b, inst, args| {
            b.set_loc(inst.loc);
            b.emit_like(inst, args)
        })?;
        b.set_loc(outer);
        values.iter().for_each(|&value| b.result(value));
        let is_handed_on = |own: &FuncResult| own.role == ResultRole::Residual && !of_calls.contains(&own.value);
        let residuals = forward.results.iter().filter(|own| forward.task.is_some() && is_handed_on(own));
        for residual in residuals.clone() {
            let value = b.value(residual.value)?;
            b.result(value);
        }
        let (args, residuals) = (forward.params.len(), residuals.count());
        b.set_task(forward.task);
        let function = b.into_builder().into_function();
        Ok(Self { function, args, results, residuals, of_forward: None })
    }

    /// Takes what a part of a pipeline hands on from the results, once the function is as it stays. What only its backward makes stays there,
    /// also where it follows from nothing that the backward has of its own: the gradients of the part that makes the loss.
    pub(super) fn take_residuals(&mut self) {
        if self.function.task.take().is_none() {
            return;
        }
        let handed_on = self.function.results.split_off(self.function.results.len() - self.residuals);
        let made = self.function.results[..self.results].iter().chain(&handed_on).map(|result| result.value);
        let made: Vec<Value> = made.collect();
        let insts = needed(&self.function, made.iter().copied(), |_| true);
        let mut of_forward = vec![false; self.function.values.len()];
        self.function.params.iter().for_each(|param| of_forward[param.value.index()] = true);
        for (inst, _) in self.function.insts.iter().zip(insts).filter(|(_, needed)| *needed) {
            inst.results.iter().for_each(|result| of_forward[result.index()] = true);
        }
        self.of_forward = Some(of_forward);
    }

    /// For each value, whether it follows from arguments of the forward alone, and may be made by it.
    fn primal(&self) -> Vec<bool> {
        let function = &self.function;
        let mut primal = vec![false; function.values.len()];
        function.params[..self.args].iter().for_each(|param| primal[param.value.index()] = true);
        for inst in &function.insts {
            let follows = inst.args.iter().all(|arg| primal[arg.index()]);
            inst.results.iter().for_each(|result| primal[result.index()] = follows);
        }
        if let Some(of_forward) = &self.of_forward {
            primal.iter_mut().zip(of_forward).for_each(|(primal, made)| *primal &= made);
        }
        primal
    }

    /// Chooses what is kept and what is computed again, where the arguments that are `free` are there anyway.
    pub(super) fn choose(&self, choices: Choices<'_>, free: &[bool]) -> Choice {
        let (function, primal) = (&self.function, self.primal());
        let Choices { cx, locs, policy, scope, price } = choices;
        let node = |value: &ValueData| {
            let cost = Totals { bytes: value.ty.bytes(), flops: 0 };
            Node { cost, inputs: None, needed: false }
        };
        let mut nodes: Vec<Node> = function.values.iter().map(node).collect();
        let function_of = FunctionOf { scope, is_part: self.of_forward.is_some() };
        for (param, _) in function.params[..self.args].iter().zip(free).filter(|(_, free)| **free) {
            nodes[param.value.index()].inputs = Some(Vec::new());
        }
        let repeated = if price.flop > 0 { self.repeated(&cx) } else { vec![0; function.insts.len()] };
        for (inst, flops) in function.insts.iter().zip(repeated) {
            let is_primal = inst.results.iter().all(|result| primal[result.index()]);
            if !is_primal {
                inst.args.iter().for_each(|arg| nodes[arg.index()].needed |= primal[arg.index()]);
            } else if inst.args.is_empty() || policy.allows(&cx, locs, inst, function_of) {
                let inputs: Vec<usize> = inst.args.iter().map(|arg| arg.index()).collect();
                inst.results.iter().for_each(|result| nodes[result.index()].inputs = Some(inputs.clone()));
                if let Some(first) = inst.results.first() {
                    nodes[first.index()].cost.flops = flops;
                }
            }
        }
        for result in &function.results[self.results..] {
            nodes[result.value.index()].needed |= primal[result.value.index()];
        }
        let kept = keep(&nodes, price);
        self.choice(&nodes, &kept, free)
    }

    /// For each instruction the operations that are repeated where the backward computes it again: none of what the forward's own
    /// results do not need.
    fn repeated(&self, cx: &InferCx<'_>) -> Vec<u64> {
        let callees = function_flops(cx);
        let returned = self.function.results[..self.results].iter().map(|result| result.value);
        let insts = self.function.insts.iter().zip(needed(&self.function, returned, |_| true));
        insts
            .map(|(inst, needed)| if needed { inst_cost(cx, &callees, &self.function, inst).flops } else { 0 })
            .collect()
    }

    /// The values that are kept at each call: arguments that are not there anyway, then values.
    pub(super) fn kept(&self, choice: &Choice) -> Vec<Value> {
        let args = choice.args.iter().filter(|at| !choice.free.contains(at)).map(|&at| self.function.params[at].value);
        args.chain(choice.kept.iter().copied()).collect()
    }

    /// The instructions that both the forward and the backward compute.
    pub(super) fn computed_again(&self, choice: &Choice) -> Vec<&Inst> {
        let forward = self.forward_insts(choice);
        choice.again.iter().filter(|&&at| forward[at]).map(|&at| &self.function.insts[at]).collect()
    }

    /// The instructions between what is kept and what is needed.
    fn choice(&self, nodes: &[Node], kept: &[bool], free: &[bool]) -> Choice {
        let function = &self.function;
        let mut wanted: Vec<bool> = nodes.iter().map(|node| node.needed).collect();
        let mut again = Vec::new();
        for (position, inst) in function.insts.iter().enumerate().rev() {
            if inst.results.iter().any(|result| wanted[result.index()] && !kept[result.index()]) {
                inst.args.iter().for_each(|arg| wanted[arg.index()] = true);
                again.push(position);
            }
        }
        again.reverse();
        let is_param = |value: Value| function.def(value).is_none();
        let args: Vec<usize> = (0..self.args).filter(|&at| wanted[function.params[at].value.index()]).collect();
        let free = args.iter().copied().filter(|&at| free[at]).collect();
        let all = (0..nodes.len()).map(Value::new);
        let kept = all.filter(|&value| kept[value.index()] && wanted[value.index()] && !is_param(value)).collect();
        Choice { args, free, kept, again }
    }

    /// For each instruction, whether the forward computes it.
    fn forward_insts(&self, choice: &Choice) -> Vec<bool> {
        let returned = self.function.results[..self.results].iter().map(|result| result.value);
        needed(&self.function, returned.chain(choice.kept.iter().copied()), |_| true)
    }

    /// The forward that returns what is kept.
    pub(super) fn forward(
        &self,
        module: &mut Module,
        registry: &Registry,
        name: Name,
        choice: &Choice,
    ) -> Result<FuncId> {
        let joint = &self.function;
        let needed = self.forward_insts(choice);
        let mut b = begin(module, registry, joint, name);
        joint.params[..self.args].iter().for_each(|param| b.copy_param(joint, param));
        for (inst, _) in joint.insts.iter().zip(needed).filter(|(_, needed)| *needed) {
            b.copy(joint, inst)?;
        }
        for result in &joint.results[..self.results] {
            let value = b.value(result.value)?;
            b.named_result(value, result.name.clone(), result.role.clone());
        }
        for &kept in &choice.kept {
            let value = b.value(kept)?;
            b.named_result(value, "", ResultRole::Residual);
        }
        Ok(b.into_builder().finish())
    }

    /// The backward that takes arguments of the forward, what is kept, and what it has of its own. What is computed again is
    /// so of what a barrier `holds` until the first of its own is there.
    pub(super) fn backward(
        &self,
        module: &mut Module,
        registry: &Registry,
        name: Name,
        choice: &Choice,
        holds: bool,
    ) -> Result<FuncId> {
        let (joint, primal) = (&self.function, self.primal());
        let mut b = begin(module, registry, joint, name);
        choice.args.iter().for_each(|&at| b.copy_param(joint, &joint.params[at]));
        let mut names = joint.param_names();
        for &kept in &choice.kept {
            let data = &joint.values[kept.index()];
            let wanted = data.hint.as_deref().unwrap_or("residual");
            let value = b.param(names.unused(wanted), data.ty.clone(), ParamRole::Argument);
            b.replace(kept, value);
        }
        joint.params[self.args..].iter().for_each(|param| b.copy_param(joint, param));
        // The forward of a part is in a program of its own, with which nothing is merged.
        if holds && self.of_forward.is_none() {
            self.hold(&mut b, choice)?;
        }
        for inst in &joint.insts {
            if !inst.results.iter().all(|result| primal[result.index()]) {
                inst.args.iter().try_for_each(|&arg| write_again(&mut b, joint, &primal, arg))?;
                b.copy(joint, inst)?;
            }
        }
        for result in &joint.results[self.results..] {
            write_again(&mut b, joint, &primal, result.value)?;
            let value = b.value(result.value)?;
            b.result(value);
        }
        Ok(b.into_builder().finish())
    }

    /// For each value, whether what is computed again gathers it, or what is made of it, and of weights alone.
    fn gathered(&self, choice: &Choice) -> Vec<bool> {
        let joint = &self.function;
        let mut of_weights = vec![false; joint.values.len()];
        choice.free.iter().for_each(|&at| of_weights[joint.params[at].value.index()] = true);
        let again = || choice.again.iter().map(|&at| &joint.insts[at]);
        for inst in again() {
            let is_one = !inst.args.is_empty() && inst.args.iter().all(|arg| of_weights[arg.index()]);
            inst.results.iter().for_each(|result| of_weights[result.index()] = is_one);
        }
        let mut gathered = vec![false; joint.values.len()];
        for inst in again().rev() {
            let is_read = inst.results.iter().any(|result| gathered[result.index()]);
            let gathers = matches!(inst.op, Op::AllGather(_)) && inst.args.iter().all(|arg| of_weights[arg.index()]);
            if is_read || gathers {
                inst.args.iter().for_each(|arg| gathered[arg.index()] = true);
            }
        }
        gathered
    }

    /// Has what is computed again wait for the first parameter that is the backward's own. Weights and the like, which no call
    /// has of its own, are left out, as holding them would cost copies, but for those that are gathered: what the forward gathered would
    /// be kept.
    fn hold(&self, b: &mut Rewriter<'_>, choice: &Choice) -> Result<()> {
        let joint = &self.function;
        let Some(first) = joint.params.get(self.args) else { return Ok(()) };
        let read = |value: &Value| choice.again.iter().any(|&at| joint.insts[at].args.contains(value));
        let gathered = self.gathered(choice);
        let is_own = |at: &&usize| !choice.free.contains(at) || gathered[joint.params[**at].value.index()];
        let args = choice.args.iter().filter(is_own).map(|&at| joint.params[at].value);
        let mut held: Vec<Value> = args.chain(choice.kept.iter().copied()).filter(read).collect();
        if held.is_empty() {
            return Ok(());
        }
        held.push(first.value);
        let values = b.values(&held)?;
        let released = b.optimization_barrier(&values)?;
        held.iter().zip(released).for_each(|(&old, new)| b.replace(old, new));
        Ok(())
    }
}

/// The residuals that calls of a function give.
fn residuals_of_calls(module: &Module, function: &Function) -> FxHashSet<Value> {
    let of_call = |inst: &Inst| {
        let results = inst.call().map_or(&[][..], |call| &module.function(call.callee).results);
        let values = inst.results.iter().zip(results).filter(|(_, result)| result.role == ResultRole::Residual);
        values.map(|(value, _)| *value).collect::<Vec<_>>()
    };
    function.insts.iter().flat_map(of_call).collect()
}

fn begin<'a>(module: &'a mut Module, registry: &'a Registry, joint: &Function, name: Name) -> Rewriter<'a> {
    let mut b = Rewriter::without_params(module, registry, joint);
    b.rename(name);
    b
}

/// Writes what a value is computed of, as far as it is not there yet: right before it is read, however deep.
fn write_again(b: &mut Rewriter<'_>, joint: &Function, primal: &[bool], value: Value) -> Result<()> {
    let mut open = vec![value];
    while let Some(&next) = open.last() {
        if b.get(next).is_some() || !primal[next.index()] {
            open.pop();
            continue;
        }
        let inst: &Inst =
            joint.def(next).ok_or_else(|| Diagnostic::bug(format!("{next:?} is neither kept nor computed again")))?;
        let missing: Vec<Value> = inst.args.iter().copied().filter(|&arg| b.get(arg).is_none()).collect();
        if missing.is_empty() {
            b.copy(joint, inst)?;
        }
        open.extend(missing);
    }
    Ok(())
}
