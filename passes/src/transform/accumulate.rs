//! `accumulate`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::accumulators::{Sum, check_rounding};
use halite_ir::{
    Builder, FuncId, FuncResult, Function, LocKind, Module, Param, ParamRole, Phase, Registry, ResultRole, StepPart,
    TensorType, Value, Values,
};
use halite_recipe::{Accumulate as Steps, Recipe};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::Content;

/// The name of the pass.
const PASS: &str = "accumulate";

/// The function that takes one micro-batch.
const NAME: &str = "micro_step";

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
            .example(golden!("accumulate" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let steps = recipe.sizes()?.accumulate as usize;
        if steps == 1 {
            return Ok(Changed::No);
        }
        Steps::check_in_one(steps as u64)?;
        check_rounding(recipe)?;
        let (b, results) = Builder::on_entry(module, cx.registry)?;
        check(b.function())?;
        let micro = MicroStep::of(&b, results, recipe)?;
        let callee = micro.finish(b)?;
        micro.main(module, cx.registry, (callee, steps))?;
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

/// The step of one micro-batch.
struct MicroStep {
    /// The name of the entry that it was.
    name: Name,
    params: Vec<(Param, TensorType)>,
    sums: Vec<Sum>,
    /// The results that are not summed.
    rest: Vec<FuncResult>,
}

impl MicroStep {
    fn of(b: &Builder<'_>, results: Vec<FuncResult>, recipe: &Recipe) -> Result<Self> {
        let params = b.function().params.iter().map(|param| (param.clone(), b.ty(param.value).clone())).collect();
        let sums = Sum::all(b.function(), &results, recipe)?;
        let rest = results.into_iter().filter(|result| result.role == ResultRole::Value).collect();
        Ok(Self { name: b.function().name.clone(), params, sums, rest })
    }

    /// Makes a function of the entry: what one micro-batch adds to the sums, given these.
    fn finish(&self, mut b: Builder<'_>) -> Result<FuncId> {
        let name = b.module().unused_name(NAME);
        b.rename(name);
        b.set_noinline(true);
        let so_far: Vec<Value> =
            self.sums.iter().map(|sum| b.param(sum.param_name(), sum.ty.clone(), ParamRole::Argument)).collect();
        let outer = b.enter(LocKind::Part(StepPart::Accumulate));
        for (sum, so_far) in self.sums.iter().zip(so_far) {
            let value = sum.add(&mut b, so_far)?;
            b.named_result(value, sum.result.name.clone(), sum.result.role.clone());
        }
        b.set_loc(outer);
        b.results(self.rest.clone());
        Ok(b.finish())
    }

    /// The entry: a call for each micro-batch. Results that are not summed are those of the last one.
    fn main(&self, module: &mut Module, registry: &Registry, (callee, steps): (FuncId, usize)) -> Result<()> {
        let mut b = Builder::new(module, registry, self.name.clone());
        // Each call has the number of its micro-batch as a constant.
        let is_number = |param: &Param| param.role == ParamRole::Known(Content::MicroBatch);
        let whole =
            |(param, ty): &(Param, TensorType)| (!is_number(param)).then(|| whole_param(&mut b, param, ty, steps));
        let params: Vec<Option<Value>> = self.params.iter().map(whole).collect();
        let outer = b.enter(LocKind::Part(StepPart::Accumulate));
        let mut so_far = self.sums.iter().map(|sum| sum.zero(&mut b)).collect::<Result<Values>>()?;
        let mut rest = Values::new();
        for step in 0..steps {
            let mut args = Values::new();
            for ((param, ty), &value) in self.params.iter().zip(&params) {
                args.push(match value {
                    Some(value) => micro_batch(&mut b, param, ty, value, step)?,
                    None => b.splat(ty.dtype(), ty.shape().clone(), step as f64)?,
                });
            }
            args.extend(so_far);
            let mut results = b.call(callee, &args)?;
            rest = results.drain(self.sums.len()..).collect();
            so_far = results;
        }
        b.set_loc(outer);
        for (sum, &value) in self.sums.iter().zip(&so_far) {
            b.named_result(value, sum.result.name.clone(), sum.result.role.clone());
        }
        for (result, value) in self.rest.iter().zip(rest) {
            b.named_result(value, result.name.clone(), ResultRole::Value);
        }
        b.finish();
        Ok(())
    }
}

/// A parameter that holds all micro-batches.
fn whole_param(b: &mut Builder<'_>, param: &Param, ty: &TensorType, steps: usize) -> Value {
    let mut sizes = ty.shape().clone();
    if let (ParamRole::Batch, Some(first)) = (&param.role, sizes.first_mut()) {
        *first *= steps;
    }
    b.param(param.name.clone(), TensorType::new(ty.dtype(), sizes), param.role.clone())
}

/// The part of a parameter that one micro-batch reads.
fn micro_batch(b: &mut Builder<'_>, param: &Param, ty: &TensorType, whole: Value, step: usize) -> Result<Value> {
    if param.role != ParamRole::Batch {
        return Ok(whole);
    }
    let size = ty.shape()[0];
    b.slice_dim(whole, 0, step * size, (step + 1) * size)
}
