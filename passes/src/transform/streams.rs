//! Keys of streams of random bits, as a value of an entry.

use halite_ir::{Builder, ParamRole, TensorType, Value};
use halite_support::{Name, Result};
use halite_tensor::{Content, DType, StreamKeys};
use std::collections::BTreeMap;

/// The keys by the parts of a pipeline that draw by them, given that of each stream; those of no part first and by themselves.
pub(super) fn by_part(
    all: &StreamKeys,
    parts: impl IntoIterator<Item = Option<usize>>,
) -> Result<Vec<(Option<usize>, StreamKeys)>> {
    let mut streams: BTreeMap<Option<usize>, Vec<Name>> = BTreeMap::new();
    for (stream, part) in all.streams().iter().zip(parts) {
        streams.entry(part).or_default().push(stream.clone());
    }
    let keys = |(part, streams)| Ok((part, StreamKeys::new(streams, all.seed())?));
    streams.into_iter().map(keys).collect()
}

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
