//! Makes the two functions of a derivative: the forward, which returns residuals too, and the backward.

use super::pairs::{Pair, Pairs};
use super::plan::{Derivative, Given, Plan};
use super::primal::copy_primal;
use super::reverse::Reverse;
use halite_ir::graph::depends_on;
use halite_ir::{Function, Inst, Module, ParamRole, Registry, ResultRole, Rewriter, Value};
use halite_support::{Name, Result};

/// Makes the functions of all derivatives.
///
/// # Errors
/// When something in them has no gradient.
pub(super) fn pairs(module: &mut Module, registry: &Registry, plan: &Plan) -> Result<Pairs> {
    let mut names = module.names();
    let count = plan.derivatives.len();
    let mut pairs = Pairs::new(count);
    // Callees stand before callers, whose derivatives call theirs.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&number| plan.derivatives[number].callee.index());
    for number in order {
        let derivative = &plan.derivatives[number];
        let source = module.function(derivative.callee).clone();
        let mut joint = match derivative.given {
            Some(given) => Joint::given(module, registry, &source, derivative, given)?,
            None => Joint::make(module, registry, &source, derivative, plan.calls_of(number), &pairs)?,
        };
        for (suffix, name) in [("forward", &mut joint.forward), ("backward", &mut joint.backward)] {
            *name = names.unused(&format!("{}_{suffix}", source.name));
        }
        let pair = joint.split(module, registry, derivative)?;
        pairs.made(number, pair);
    }
    Ok(pairs)
}

/// Forward and backward in one function.
struct Joint {
    forward: Name,
    backward: Name,
    /// Parameters are the arguments, then the cotangents; results are those of the source, then the wanted cotangents.
    function: Function,
    /// The number of instructions of the forward.
    primal: usize,
    /// The number of parameters that are arguments.
    args: usize,
}

impl Joint {
    fn make(
        module: &mut Module,
        registry: &Registry,
        source: &Function,
        derivative: &Derivative,
        calls: &[Option<usize>],
        pairs: &Pairs,
    ) -> Result<Self> {
        let mut b = Rewriter::new(module, registry, source);
        copy_primal(&mut b, source, calls, pairs)?;
        b.copy_results(source)?;
        let primal = b.function().insts.len();
        let mut seeds = Vec::new();
        for (index, result) in source.results.iter().enumerate().filter(|(index, _)| derivative.present[*index]) {
            let name = if result.name.is_empty() { index.to_string() } else { result.name.to_string() };
            let ct = b.argument(&format!("ct.{name}"), source.ty(result.value).clone());
            seeds.push((b.value(result.value)?, ct));
        }
        let wanted = source.params.iter().zip(&derivative.wanted).filter(|(_, wanted)| **wanted);
        let wanted = wanted.map(|(param, _)| b.value(param.value)).collect::<Result<Vec<_>>>()?;
        let cotangents = Reverse::new(&b, &wanted, pairs).run(&mut b, &seeds)?;
        for (cotangent, arg) in cotangents.into_iter().zip(wanted) {
            let value = match cotangent {
                Some(value) => value,
                None => b.splat_like(arg, 0.0)?,
            };
            b.result(value);
        }
        let function = b.into_builder().into_function();
        Ok(Self { forward: Name::default(), backward: Name::default(), function, primal, args: source.params.len() })
    }

    /// From a function that calculates its gradient itself: what reads no cotangent is the forward.
    fn given(
        module: &mut Module,
        registry: &Registry,
        source: &Function,
        derivative: &Derivative,
        given: Given,
    ) -> Result<Self> {
        let Given { operands: args, values } = given;
        let cotangents: Vec<Value> = source.params[args..].iter().map(|param| param.value).collect();
        let late = depends_on(source, &cotangents);
        let is_late = |inst: &Inst| inst.results.iter().any(|result| late[result.index()]);
        let mut b = Rewriter::new(module, registry, source);
        for inst in source.insts.iter().filter(|inst| !is_late(inst)) {
            b.copy(source, inst)?;
        }
        let primal = b.function().insts.len();
        for inst in source.insts.iter().filter(|inst| is_late(inst)) {
            b.copy(source, inst)?;
        }
        for result in &source.results[..values] {
            let value = b.value(result.value)?;
            b.named_result(value, result.name.clone(), result.role.clone());
        }
        let floats = source.params[..args].iter().zip(&derivative.wanted);
        let floats = floats.filter(|(param, _)| source.ty(param.value).dtype().is_float());
        for (result, _) in source.results[values..].iter().zip(floats).filter(|(_, (_, wanted))| **wanted) {
            let value = b.value(result.value)?;
            b.result(value);
        }
        let function = b.into_builder().into_function();
        Ok(Self { forward: Name::default(), backward: Name::default(), function, primal, args })
    }

    /// The values of the forward that the backward reads, but for arguments and what is made of nothing.
    fn residuals(&self, results: usize) -> (Vec<usize>, Vec<Value>) {
        let joint = &self.function;
        let mut read = vec![false; joint.values.len()];
        joint.insts[self.primal..].iter().flat_map(|inst| &inst.args).for_each(|arg| read[arg.index()] = true);
        joint.results[results..].iter().for_each(|result| read[result.value.index()] = true);
        let args = (0..self.args).filter(|&at| read[joint.params[at].value.index()]).collect();
        let kept = joint.insts[..self.primal].iter().filter(|inst| !inst.args.is_empty());
        let residuals = kept.flat_map(|inst| &inst.results).copied().filter(|value| read[value.index()]).collect();
        (args, residuals)
    }

    fn split(&self, module: &mut Module, registry: &Registry, derivative: &Derivative) -> Result<Pair> {
        let (joint, results) = (&self.function, derivative.present.len());
        let (args, residuals) = self.residuals(results);

        let mut b = Rewriter::without_params(module, registry, joint);
        b.rename(self.forward.clone());
        joint.params[..self.args].iter().for_each(|param| b.copy_param(joint, param));
        for inst in &joint.insts[..self.primal] {
            b.copy(joint, inst)?;
        }
        for result in &joint.results[..results] {
            let value = b.value(result.value)?;
            b.named_result(value, result.name.clone(), result.role.clone());
        }
        for &residual in &residuals {
            let value = b.value(residual)?;
            b.named_result(value, Name::default(), ResultRole::Residual);
        }
        let forward = b.into_builder().finish();

        let mut b = Rewriter::without_params(module, registry, joint);
        b.rename(self.backward.clone());
        args.iter().for_each(|&at| b.copy_param(joint, &joint.params[at]));
        let mut names = joint.param_names();
        for &residual in &residuals {
            let data = &joint.values[residual.index()];
            let wanted = data.hint.as_deref().unwrap_or("residual");
            let value = b.param(names.unused(wanted), data.ty.clone(), ParamRole::Argument);
            b.replace(residual, value);
        }
        joint.params[self.args..].iter().for_each(|param| b.copy_param(joint, param));
        let constants = joint.insts[..self.primal].iter().filter(|inst| inst.args.is_empty());
        for inst in constants.chain(&joint.insts[self.primal..]) {
            b.copy(joint, inst)?;
        }
        for result in &joint.results[results..] {
            let value = b.value(result.value)?;
            b.result(value);
        }
        let backward = b.into_builder().finish();
        Ok(Pair { forward, backward, takes: self.args, args, present: derivative.present.clone() })
    }
}
