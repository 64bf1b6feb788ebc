//! Keys of streams of random bits, as a value of an entry.

use halite_ir::{Builder, ParamRole, TensorType, Value};
use halite_support::Result;
use halite_tensor::{Content, DType, StreamKeys};

/// The keys that a part of a pipeline draws by, `u32[n]`, as a parameter named after `what` and the part, so that equal parts are equal
/// programs; a constant where the model is not cut into parts.
pub(super) fn stream_keys(b: &mut Builder<'_>, keys: StreamKeys, what: &str, part: Option<usize>) -> Result<Value> {
    let Some(part) = part else {
        let value = b.constant(keys.tensor())?;
        b.name_value(value, "keys");
        return Ok(value);
    };
    let name = b.function().param_names().unused(&format!("{what}_keys.{part}"));
    let ty = TensorType::new(DType::U32, [keys.streams().len()]);
    Ok(b.param(name, ty, ParamRole::Known(Content::Keys(keys))))
}
