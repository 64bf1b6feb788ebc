//! `read-accumulators`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::accumulators::Sum;
use halite_ir::{Builder, LocKind, Module, Param, ParamRole, Phase, StepPart, Value};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "read-accumulators";

/// Has the module that makes the update read its gradients from sums that are state, in the place of all that computes them: the other
/// half of [`add-to-accumulators`](super::add_to_accumulators), which starts them anew.
///
/// ```text
/// func @main(%x: f32[4] {batch}, %w: f32[4] {weight, ..}) -> (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"})
/// =>
/// func @main(%w: f32[4] {weight, ..}, %accum_loss: f32[] {..}, .., %accum.w: f32[4] {state = accum, of = "w", sum})
///   -> (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"}) {
///   return %accum_loss, %accum_count, %accum.w
/// ```
#[derive(Debug)]
pub(crate) struct ReadAccumulators;

impl Pass for ReadAccumulators {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "read gradients from sums that are state", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .example(golden!("read_accumulators" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let entry = module.take_entry()?;
        let sums = Sum::state_of(PASS, &entry, &entry.results, cx.recipe(PASS)?)?;
        let mut b = Builder::new(module, cx.registry, entry.name.clone());
        let is_weight = |param: &&Param| matches!(param.role, ParamRole::Weight(_));
        for param in entry.params.iter().filter(is_weight) {
            b.param(param.name.clone(), entry.ty(param.value).clone(), param.role.clone());
        }
        let outer = b.enter(LocKind::Part(StepPart::Accumulate));
        for sums in sums.chunk_by(Sum::is_with) {
            let [sum, others @ ..] = sums else { continue };
            let param = param_of(&mut b, sum);
            let params: Vec<Value> = others.iter().map(|sum| param_of(&mut b, sum)).collect();
            let param = params.into_iter().try_fold(param, |all, param| b.add(all, param))?;
            b.named_result(param, sum.result.name.clone(), sum.result.role.clone());
        }
        b.set_loc(outer);
        b.finish();
        module.drop_unreached();
        Ok(Changed::Yes)
    }
}

fn param_of(b: &mut Builder<'_>, sum: &Sum) -> Value {
    b.param(sum.param_name(), sum.ty.clone(), ParamRole::State(sum.state()))
}
