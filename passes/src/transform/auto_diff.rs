//! `auto-diff`.

mod joint;
mod pairs;
mod plan;
mod primal;
mod reverse;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::graph::reached_functions;
use halite_ir::{Builder, Function, Module, Param, Phase, ResultRole, Rewriter, Value};
use halite_support::{Diagnostic, Name, Result, codes};
use joint::pairs;
use plan::Plan;
use primal::copy_primal;
use reverse::Reverse;
use rustc_hash::FxHashSet;

/// Reverse-mode differentiation of the entry's objective by every weight that is not frozen.
///
/// The primal instructions are kept as they are, except that composites without a gradient of their own are replaced by
/// their decompositions. Then the instructions are walked backwards, each asked for the cotangents of its operands.
/// Cotangents that are zero are never materialised; instructions that no weight reaches are never visited.
///
/// A function that is called becomes two, made once for each set of results with a cotangent and of wanted arguments:
/// `@f_forward` returns beside the results of `@f` its residuals, which are the values that the gradient reads, and
/// `@f_backward` takes these and the cotangents. `cut` then says which residuals are kept. Where the call is a `call_with_gradient`, both
/// are the halves of `@f` itself: what does not read the cotangents that it takes, and what does.
///
/// ```text
/// func @main(%w: f32[] {weight}) -> (loss: f32[] {loss}) {
///   %y = exponential %w : f32[]
///   return %y
/// }
/// =>
/// func @main(%w: f32[] {weight}) -> (loss: f32[] {loss}, w: f32[] {gradient}) {
///   %y = exponential %w : f32[]
///   %seed = constant 1.0 : f32[]
///   %0 = multiply %seed, %y : f32[]
///   return %y, %0
/// }
/// ```
#[derive(Debug)]
pub(crate) struct AutoDiff;

impl Pass for AutoDiff {
    fn info(&self) -> PassInfo {
        PassInfo::new("auto-diff", "add the gradients of the objective by every trained weight", Relation::Extends)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .gives(Phase::Differentiated)
            .example(golden!("auto_diff" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let before = reached_functions(module);
        let entry = module.take_entry()?;
        let Some(loss) = entry.results.iter().position(|result| result.role == ResultRole::Loss) else {
            let message = format!("`@{}` has no result with the role `loss` to differentiate", entry.name);
            return Err(Diagnostic::error(codes::PIPELINE, message).help("mark the objective with `{loss}`"));
        };
        let plan = Plan::of(module, &entry, entry.results[loss].value)?;
        let pairs = pairs(module, cx.registry, &plan)?;
        let mut rewriter = Rewriter::new(module, cx.registry, &entry);
        copy_primal(&mut rewriter, &entry, plan.calls(), &pairs)?;
        let objective = rewriter.value(entry.results[loss].value)?;
        let ty = rewriter.ty(objective);
        if ty.rank() != 0 || !ty.dtype().is_float() {
            let message = format!("the objective is `{ty}`, which has no gradient");
            return Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).help("reduce it to a float scalar"));
        }
        let seed = rewriter.splat_like(objective, 1.0)?;
        rewriter.name_value(seed, "seed");
        let weights: Vec<(Name, Value)> = weights(&rewriter);
        check_names(&entry, &weights)?;
        let wanted: Vec<Value> = weights.iter().map(|(_, value)| *value).collect();
        let cotangents = Reverse::new(&rewriter, &wanted, &pairs).run(&mut rewriter, &[(objective, seed)])?;
        for result in &entry.results {
            let value = rewriter.value(result.value)?;
            rewriter.named_result(value, result.name.clone(), result.role.clone());
        }
        for ((name, weight), cotangent) in weights.into_iter().zip(cotangents) {
            let gradient = match cotangent {
                Some(gradient) => gradient,
                None => rewriter.splat_like(weight, 0.0)?,
            };
            rewriter.named_result(gradient, name.clone(), ResultRole::Gradient(name));
        }
        rewriter.into_builder().finish();
        drop_differentiated(module, &before);
        Ok(Changed::Yes)
    }
}

/// Drops what the entry reached before and nothing calls any longer.
fn drop_differentiated(module: &mut Module, before: &[bool]) {
    let mut kept = reached_functions(module);
    let callees = before.len().saturating_sub(1);
    before[..callees].iter().zip(&mut kept).filter(|(before, _)| !**before).for_each(|(_, kept)| *kept = true);
    for (index, function) in module.functions.iter().enumerate().rev() {
        let callees = function.insts.iter().filter_map(|inst| inst.op.callee());
        callees.filter(|_| kept[index]).collect::<Vec<_>>().into_iter().for_each(|callee| kept[callee.index()] = true);
    }
    module.retain_functions(&kept);
}

/// Whether a parameter is a weight that is trained.
fn is_trained(param: &Param) -> bool {
    param.weight().is_some_and(|info| !info.frozen)
}

/// The weights among the parameters of the function being built that are trained.
fn weights(b: &Builder<'_>) -> Vec<(Name, Value)> {
    let trained = b.function().params.iter().filter(|param| is_trained(param));
    trained.map(|param| (param.name.clone(), param.value)).collect()
}

/// A gradient is named after its weight, so that no other result may be.
fn check_names(entry: &Function, weights: &[(Name, Value)]) -> Result<()> {
    let taken: FxHashSet<&Name> = entry.results.iter().map(|result| &result.name).collect();
    let Some((name, _)) = weights.iter().find(|(name, _)| taken.contains(name)) else { return Ok(()) };
    let message = format!("the gradient of weight `{name}` needs its name, which a result of `@{}` has", entry.name);
    Err(Diagnostic::error(codes::DUPLICATE, message).help("rename the result, or the weight"))
}
