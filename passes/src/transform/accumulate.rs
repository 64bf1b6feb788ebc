//! `accumulate`.

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::accumulators::{Sum, check_rounding};
use halite_ir::{
    Builder, FuncId, Function, Module, Param, ParamRole, Phase, Registry, ResultRole, Rewriter, TensorType, Value,
    Values,
};
use halite_support::{Diagnostic, Result, codes};

/// The name of the pass.
const PASS: &str = "accumulate";

/// The function that takes one micro-batch.
const MICRO_STEP: &str = "micro_step";

/// The scope of what adds up micro-batches.
pub(crate) const SCOPE: &str = "accumulate";

/// Makes one update of several micro-batches, where the recipe says so: objective, count and gradients are added up over calls of
/// one function, which stays one. Each input of the batch holds the micro-batches one after another along its first dimension;
/// a causal mask is that of all of them.
///
/// The sums go through the calls, so that one micro-batch is done before the next begins and nothing of two is held at a time.
/// Objective and count are sums, and what divides by the count comes later: micro-batches with unequal counts weigh as they should.
///
/// ```text
/// func @main(%x: f32[4] {batch}, %w: f32[4] {weight, ..}) -> (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"})
/// =>
/// func @micro_step(%x: f32[4] {batch}, %w: f32[4] {weight, ..}, %accum_loss: f32[], .., %accum.w: f32[4]) -> (..) noinline
/// func @main(%x: f32[8] {batch}, %w: f32[4] {weight, ..}) -> (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"}) {
///   %0 = constant 0.0 : f32[]
///   ..
///   %3 = slice %x {start = [0], limit = [4], stride = [1]} : f32[4]
///   %4, %5, %6 = call %3, %w, %0, %1, %2 {callee = @micro_step} : f32[], f32[], f32[4]
///   %7 = slice %x {start = [4], limit = [8], stride = [1]} : f32[4]
///   %8, %9, %10 = call %7, %w, %4, %5, %6 {callee = @micro_step} : f32[], f32[], f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct Accumulate;

impl Pass for Accumulate {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make one update of several micro-batches", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let steps = recipe.sizes()?.accumulate as usize;
        if steps == 1 {
            return Ok(Changed::No);
        }
        let entry = module.take_entry()?;
        check_rounding(recipe)?;
        check(&entry)?;
        let sums = Sum::all(&entry, recipe);
        let callee = micro_step(module, cx.registry, &entry, &sums)?;
        main(module, cx.registry, &entry, &sums, (callee, steps))?;
        Ok(Changed::Yes)
    }
}

/// # Errors
/// When an input of the batch has no dimension along which micro-batches could follow one another.
fn check(entry: &Function) -> Result<()> {
    let is_scalar = |param: &&Param| param.role == ParamRole::Batch && entry.ty(param.value).rank() == 0;
    let Some(param) = entry.params.iter().find(is_scalar) else { return Ok(()) };
    let message = format!("the input `{}` is a scalar, which has no micro-batches to accumulate over", param.name);
    Err(Diagnostic::error(codes::PIPELINE, message)
        .key("accumulate")
        .help("set `accumulate = 1`, or give it a dimension"))
}

/// What one micro-batch adds to the sums, given these.
fn micro_step(module: &mut Module, registry: &Registry, entry: &Function, sums: &[Sum]) -> Result<FuncId> {
    let name = module.unused_name(MICRO_STEP);
    let mut b = Rewriter::without_params(module, registry, entry);
    b.rename(name);
    b.set_noinline(true);
    entry.params.iter().for_each(|param| b.copy_param(entry, param));
    let so_far: Vec<Value> =
        sums.iter().map(|sum| b.param(sum.param_name(), sum.ty.clone(), ParamRole::Argument)).collect();
    for inst in &entry.insts {
        b.copy(entry, inst)?;
    }
    let outer = b.enter_scope(SCOPE);
    for (sum, so_far) in sums.iter().zip(so_far) {
        let value = sum.add(&mut b, so_far)?;
        b.named_result(value, sum.result.name.clone(), sum.result.role.clone());
    }
    b.set_loc(outer);
    for result in entry.results.iter().filter(|result| result.role == ResultRole::Value) {
        let value = b.value(result.value)?;
        b.named_result(value, result.name.clone(), ResultRole::Value);
    }
    Ok(b.into_builder().finish())
}

/// The entry: a call for each micro-batch. Results without a role are those of the last one.
fn main(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    sums: &[Sum],
    (callee, steps): (FuncId, usize),
) -> Result<()> {
    let mut b = Builder::new(module, registry, entry.name.clone());
    let params: Vec<Value> = entry.params.iter().map(|param| whole_param(&mut b, entry, param, steps)).collect();
    let outer = b.enter_scope(SCOPE);
    let mut so_far = sums.iter().map(|sum| sum.zero(&mut b)).collect::<Result<Values>>()?;
    let mut rest = Values::new();
    for step in 0..steps {
        let mut args = Values::new();
        for (param, &value) in entry.params.iter().zip(&params) {
            args.push(micro_batch(&mut b, entry, param, value, step)?);
        }
        args.extend(so_far);
        let mut results = b.call(callee, &args)?;
        rest = results.drain(sums.len()..).collect();
        so_far = results;
    }
    b.set_loc(outer);
    for (sum, &value) in sums.iter().zip(&so_far) {
        b.named_result(value, sum.result.name.clone(), sum.result.role.clone());
    }
    let others = entry.results.iter().filter(|result| result.role == ResultRole::Value);
    for (result, value) in others.zip(rest) {
        b.named_result(value, result.name.clone(), ResultRole::Value);
    }
    b.finish();
    Ok(())
}

/// A parameter that holds all micro-batches.
fn whole_param(b: &mut Builder<'_>, entry: &Function, param: &Param, steps: usize) -> Value {
    let ty = entry.ty(param.value);
    let mut sizes = ty.shape().clone();
    if let (ParamRole::Batch, Some(first)) = (&param.role, sizes.first_mut()) {
        *first *= steps;
    }
    b.param(param.name.clone(), TensorType::new(ty.dtype(), sizes), param.role.clone())
}

/// What one micro-batch reads of a parameter.
fn micro_batch(b: &mut Builder<'_>, entry: &Function, param: &Param, whole: Value, step: usize) -> Result<Value> {
    if param.role != ParamRole::Batch {
        return Ok(whole);
    }
    let size = entry.ty(param.value).shape()[0];
    b.slice_dim(whole, 0, step * size, (step + 1) * size)
}
