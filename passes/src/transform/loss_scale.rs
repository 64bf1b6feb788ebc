//! The factor of the objective, where the recipe has it scaled.

use crate::transform::scalar_state::scalar_state;
use crate::transform::trained::find;
use halite_ir::{Builder, FuncResult, ResultRole, Value, engine};
use halite_recipe::{DynamicLossScale, LossScale};
use halite_support::Result;
use halite_tensor::{DType, Init, StateSpec};

/// The kind of state that is a dynamic scale.
const SCALE: &str = "scaler";

/// The kind of state that counts the updates since a dynamic scale was set.
const STEPS: &str = "scaler_steps";

/// The factor of the objective among the results of a function, a scalar: a constant, or state, which becomes a parameter where it is
/// none yet.
pub(super) fn factor(b: &mut Builder<'_>, results: &[FuncResult], scale: LossScale) -> Result<Value> {
    let dtype = engine(b.dtype(find(b, results, ResultRole::Loss)?));
    match scale {
        LossScale::Fixed(scale) => b.splat(dtype, [], f64::from(scale)),
        LossScale::Dynamic(scale) => scalar_state(b, dtype, spec(scale)),
    }
}

/// A dynamic scale as state of a function, and the updates since it was set.
pub(super) fn dynamic(b: &mut Builder<'_>, results: &[FuncResult], scale: DynamicLossScale) -> Result<[Value; 2]> {
    let steps = scalar_state(b, DType::S32, StateSpec::new(STEPS))?;
    Ok([factor(b, results, LossScale::Dynamic(scale))?, steps])
}

/// Returns what replaces the two.
pub(super) fn replace(b: &mut Builder<'_>, [scale, steps]: [Value; 2]) {
    b.named_result(scale, SCALE, ResultRole::State(SCALE.into()));
    b.named_result(steps, STEPS, ResultRole::State(STEPS.into()));
}

fn spec(scale: DynamicLossScale) -> StateSpec {
    StateSpec::new(SCALE).init(Init::Constant(f64::from(scale.initial)))
}
