//! `auto-cast`.

mod callee;
mod caster;
mod functions;
mod missed;
mod overrides;
mod types;
mod wants;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{Module, Phase};
use halite_recipe::Precision;
use halite_support::Result;
use overrides::Overrides;
pub use types::resolve;

/// Mixed precision on the joint forward and backward.
///
/// Each op says in its policy which of the recipe's element types its operands, its computation, its sums and its results
/// follow. Weights arrive in the type of their slot, gradients leave in the type of gradients. A value keeps the precision
/// it was made in for readers that need it, and is narrowed once for all others; a convert is shared by all its readers.
/// Movements of data are done before a narrowing when that moves less. What computes wide takes a value as it was made,
/// unless others have it kept narrow anyway.
///
/// A function that is called is written for what its callers hand over and do with its results, once for each kind of call, so
/// that values cross calls in the types that they would have without.
///
/// Composites keep narrow operands and results and are told what to compute in; `expand-composites` writes the converts.
///
/// ```text
/// func @main(%x: f32[2,4], %w: f32[3,4] {weight, init = zeros})   =>   ... (%x: f32[2,4], %w: f32[3,4] {weight, ..})
///   %y = dot_general %x, %w {..} : f32[2,3]                              %0 = convert %x {rounding = rne} : bf16[2,4]
///                                                                        %1 = convert %w {rounding = rne} : bf16[3,4]
///                                                                        %y = dot_general %0, %1 {.., accumulate = f32} : f32[2,3]
/// ```
#[derive(Debug)]
pub(crate) struct AutoCast;

impl Pass for AutoCast {
    fn info(&self) -> PassInfo {
        PassInfo::new(
            "auto-cast",
            "give every instruction the element types of the precision recipe",
            Relation::WithinRecipe,
        )
        .required()
        .needs(Phase::Built..=Phase::Differentiated)
        .gives(Phase::Cast)
        .example(golden!("auto_cast/minimal" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let precision = &cx.recipe("auto-cast")?.precision;
        // A recipe that narrows nothing leaves the module as it is.
        if !is_uniform(precision) {
            let overrides = Overrides::new(precision);
            let training = module.phase == Phase::Differentiated;
            functions::cast(module, cx.registry, &overrides)?;
            // A pattern may well miss the part of the model that an inference module keeps.
            if training {
                overrides.check(module, cx.registry)?;
            }
        }
        Ok(Changed::Yes)
    }
}

/// Whether everything has the type that models are elaborated in.
fn is_uniform(precision: &Precision) -> bool {
    let Precision { weight, operand, accumulate, sensitive, gradient, reduce, .. } = precision;
    let types = [operand, accumulate, sensitive, gradient, reduce];
    precision.overrides.is_empty() && types.into_iter().all(|dtype| dtype == weight) && weight.size() >= 4
}
