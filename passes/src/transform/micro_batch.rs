//! The number of the micro-batch, as a parameter of a step.

use halite_ir::{Builder, ParamRole, TensorType, Value};
use halite_tensor::{Content, DType};

/// The name of the parameter.
const NAME: &str = "micro_batch";

/// The number of the micro-batch, `s32[]` from 0, which each call is given. The parameter is added where there is none yet.
pub(super) fn micro_batch(b: &mut Builder<'_>) -> Value {
    let role = ParamRole::Known(Content::MicroBatch);
    if let Some(param) = b.function().params.iter().find(|param| param.role == role) {
        return param.value;
    }
    let name = b.function().param_names().unused(NAME);
    b.param(name, TensorType::scalar(DType::S32), role)
}
