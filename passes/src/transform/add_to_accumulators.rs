//! `add-to-accumulators`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::accumulators::{Sum, check_rounding};
use crate::transform::micro_batch::micro_batch;
use halite_ir::ops::Direction;
use halite_ir::{Builder, LocKind, Module, ParamRole, Phase, ResultRole, StepPart, Value};
use halite_support::Result;

/// The name of the pass.
const PASS: &str = "add-to-accumulators";

/// Makes the module that takes one micro-batch, where accumulation is done by two modules: `(batch, weights, sums) -> sums'`. It is
/// called once for each micro-batch; what [`read-accumulators`](super::read_accumulators) makes follows. The first micro-batch starts
/// the sums, whatever an update before has left in them, so that the update only reads them.
///
/// ```text
/// func @main(%x: f32[4] {batch}, %w: f32[4] {weight, ..}) -> (loss: f32[] {loss}, .., w: f32[4] {gradient = "w"})
/// =>
/// func @main(.., %micro_batch: s32[] {batch, micro_batch}, .., %accum.w: f32[4] {state = accum, of = "w", sum})
///   -> (.., accum.w: f32[4] {state = "accum.w"}) {
///   ..
///   %zero = constant 0 : s32[]
///   %is_first = compare %micro_batch, %zero {direction = eq} : pred[]
///   %1 = constant 0.0 : f32[4]
///   %2 = select %is_first, %1, %accum.w : f32[4]
///   %3 = add %2, %gradient : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct AddToAccumulators;

impl Pass for AddToAccumulators {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "add the gradients of a micro-batch to sums that are state", Relation::Defines)
            .required()
            .needs(Phase::Differentiated..=Phase::Cast)
            .gives(Phase::Step)
            .example(golden!("add_to_accumulators" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        check_rounding(recipe)?;
        let (mut b, results) = Builder::on_entry(module, cx.registry)?;
        let sums = Sum::state_of(PASS, b.function(), &results, recipe)?;
        let number = micro_batch(&mut b);
        let so_far: Vec<Value> =
            sums.iter().map(|sum| b.param(sum.param_name(), sum.ty.clone(), ParamRole::State(sum.state()))).collect();
        let outer = b.enter(LocKind::Part(StepPart::Accumulate));
        let zero = b.splat_like(number, 0.0)?;
        let is_first = b.compare(number, zero, Direction::Eq)?;
        b.name_value(is_first, "is_first");
        for (sum, so_far) in sums.iter().zip(so_far) {
            let zero = sum.zero(&mut b)?;
            let so_far = b.select(is_first, zero, so_far)?;
            let value = sum.add(&mut b, so_far)?;
            b.named_result(value, sum.param_name(), ResultRole::State(sum.param_name()));
        }
        b.set_loc(outer);
        b.finish();
        Ok(Changed::Yes)
    }
}
