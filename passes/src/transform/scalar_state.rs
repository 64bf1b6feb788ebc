//! State of the step that is one number.

use crate::transform::trained::name_taken;
use halite_ir::{Builder, ParamRole, TensorType, Value};
use halite_support::Result;
use halite_tensor::{DType, StateSpec};

/// The parameter that is a scalar state, which is added where there is none yet.
///
/// # Errors
/// When another parameter has its name.
pub(super) fn scalar_state(b: &mut Builder<'_>, dtype: DType, spec: StateSpec) -> Result<Value> {
    let (name, role) = (spec.param_name(), ParamRole::State(spec));
    match b.function().params.iter().find(|param| param.name == name) {
        Some(param) if param.role == role => Ok(param.value),
        Some(_) => Err(name_taken(&name)),
        None => Ok(b.param(name, TensorType::scalar(dtype), role)),
    }
}
