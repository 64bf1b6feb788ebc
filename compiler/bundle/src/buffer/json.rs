//! A buffer as manifests write it.

use super::{Buffer, BufferRole};
use halite_support::Name;
use halite_tensor::{Content, DType, Init, Packing, Sharding, StateSpec};
use serde::{Deserialize, Serialize};

/// The keys of a buffer, of which each role has its own.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferJson {
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    slot: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    init: Option<Init>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    transient: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sum: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    packing: Option<Packing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sharding: Option<Sharding>,
}

impl From<Buffer> for BufferJson {
    fn from(buffer: Buffer) -> Self {
        Self {
            slot: buffer.role.word().to_owned(),
            content: buffer.content().cloned(),
            of: buffer.of().map(str::to_owned),
            init: buffer.init(),
            transient: matches!(&buffer.role, BufferRole::State(spec) if spec.transient),
            sum: matches!(&buffer.role, BufferRole::State(spec) if spec.sum),
            part: if let BufferRole::State(spec) = &buffer.role { spec.part } else { None },
            name: buffer.name,
            dtype: buffer.dtype,
            shape: buffer.shape,
            packing: buffer.packing,
            sharding: buffer.sharding,
        }
    }
}

impl TryFrom<BufferJson> for Buffer {
    type Error = String;

    fn try_from(json: BufferJson) -> Result<Self, String> {
        let role = role(&json)?;
        let BufferJson { name, dtype, shape, packing, sharding, .. } = json;
        Ok(Self { name, dtype, shape, role, packing, sharding })
    }
}

/// The role of a buffer.
///
/// # Errors
/// When state has no initial value, or the buffer has a key that goes only with another role.
fn role(json: &BufferJson) -> Result<BufferRole, String> {
    let BufferJson { name, dtype, shape, slot, content, of, init, transient, sum, part, .. } = json;
    let is_batch = slot == "batch";
    if is_batch == init.is_some() {
        return Err(format!("the buffer `{name}` must have an initial value exactly if it is state"));
    }
    let excess = [
        ("content", content.is_some() && !is_batch),
        ("of", of.is_some() && (is_batch || slot == "weight")),
        ("transient", *transient && (is_batch || slot == "weight")),
        ("sum", *sum && !*transient),
        ("part", part.is_some() && !*sum),
    ];
    if let Some((key, _)) = excess.iter().find(|(_, is_excess)| *is_excess) {
        return Err(format!("the buffer `{name}` has the key `{key}`, which does not go with the slot `{slot}`"));
    }
    if let Some(expected) = content.as_ref().and_then(|content| content.unfit(*dtype, shape)) {
        return Err(format!("the buffer `{name}` is `{dtype}` of {shape:?}, its `content` is that of `{expected}`"));
    }
    Ok(match (slot.as_str(), init) {
        ("weight", Some(init)) => BufferRole::Weight(*init),
        (kind, Some(init)) => BufferRole::State(StateSpec {
            kind: kind.into(),
            of: of.as_deref().map(Name::from),
            init: *init,
            transient: *transient,
            sum: *sum,
            part: *part,
        }),
        (_, None) => BufferRole::Batch(content.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rest: &str) -> String {
        format!(r#"{{"name":"x","dtype":"f32","shape":[2],{rest}}}"#)
    }

    #[test]
    fn every_role_reads_back_to_itself() {
        for rest in [
            r#""slot":"batch""#,
            r#""slot":"weight","init":{"normal":0.5}"#,
            r#""slot":"step","init":"zeros""#,
            r#""slot":"master","of":"w","init":"weight""#,
            r#""slot":"zeta","of":"w","init":{"constant":3.0},"transient":true"#,
            r#""slot":"accum","of":"w","init":"zeros","transient":true,"sum":true"#,
            r#""slot":"accum","of":"w","init":"zeros","transient":true,"sum":true,"part":2"#,
            r#""slot":"weight","init":"ones","sharding":[[[0,2,1]]]"#,
        ] {
            let buffer: Buffer = serde_json::from_str(&text(rest)).unwrap();
            assert_eq!(serde_json::to_string(&buffer).unwrap(), text(rest));
        }
    }

    #[test]
    fn declared_content_is_of_one_type() {
        let read = |dtype: &str, shape: &str, content: &str| {
            let rest = format!(r#""dtype":"{dtype}","shape":{shape},"slot":"batch","content":{content}"#);
            let text = format!(r#"{{"name":"x",{rest}}}"#);
            let buffer = serde_json::from_str::<Buffer>(&text).map_err(|error| error.to_string())?;
            assert_eq!(serde_json::to_string(&buffer).unwrap(), text);
            Ok::<_, String>(())
        };
        let keys = r#"{"keys":{"streams":["a","b"],"seed":7}}"#;
        for (dtype, shape, content, expected) in [
            ("pred", "[2,3,3]", r#""causal""#, "pred[.., size, size]"),
            ("s32", "[4]", r#""ranks""#, "s32[ranks]"),
            ("s32", "[]", r#""micro-batch""#, "s32[]"),
            ("u32", "[2]", keys, "u32[2]"),
        ] {
            assert_eq!(read(dtype, shape, content), Ok(()));
            for (dtype, shape) in [("f32", shape), (dtype, "[2,3]"), (dtype, "[3,2,1]")] {
                let error = read(dtype, shape, content).unwrap_err();
                assert!(error.contains(&format!("its `content` is that of `{expected}`")), "{error}");
            }
        }
        for (content, expected) in [
            (r#"{"keys":{"streams":[],"seed":7}}"#, "keys of random bits are those of no stream"),
            (r#"{"keys":{"streams":["a","a"],"seed":7}}"#, "the streams `a` and `a` have the same random bits"),
            (r#"{"keys":{"streams":["a","b"]}}"#, "missing field `seed`"),
            (r#"{"keys":["a","b"]}"#, "invalid type: string"),
        ] {
            let error = read("u32", "[2]", content).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn keys_of_another_role_are_refused() {
        let initial = "must have an initial value exactly if it is state";
        for (rest, expected) in [
            (r#""slot":"weight""#, initial),
            (r#""slot":"m","of":"w""#, initial),
            (r#""slot":"batch","init":"zeros""#, initial),
            (r#""slot":"batch","of":"w""#, "has the key `of`, which does not go with the slot `batch`"),
            (r#""slot":"batch","transient":true"#, "has the key `transient`"),
            (r#""slot":"weight","init":"ones","of":"w""#, "has the key `of`"),
            (r#""slot":"weight","init":"ones","transient":true"#, "has the key `transient`"),
            (r#""slot":"m","init":"zeros","part":1"#, "has the key `part`"),
            (r#""slot":"m","init":"zeros","content":"causal""#, "has the key `content`"),
        ] {
            let error = serde_json::from_str::<Buffer>(&text(rest)).unwrap_err().to_string();
            assert!(error.contains("the buffer `x`") && error.contains(expected), "{error}");
        }
        assert!(serde_json::from_str::<Buffer>(&text(r#""slot":"batch","size":1"#)).is_err());
    }
}
