//! Keys of streams of random bits, by the names of the streams.

use crate::rounding::stream_key;
use crate::{DType, HostTensor};
use halite_support::{Diagnostic, Name, Result, codes};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The keys of streams of random bits under a seed, `u32[streams]`, in the order of the streams. There is one stream or more, and no two
/// have one key.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct StreamKeys {
    streams: Vec<Name>,
    seed: u64,
}

impl StreamKeys {
    /// The keys of these streams under a seed.
    ///
    /// # Errors
    /// When there is no stream, or two have one key: their random bits would be the same.
    pub fn new(streams: impl IntoIterator<Item = Name>, seed: u64) -> Result<Self> {
        let own = Self { streams: streams.into_iter().collect(), seed };
        if own.streams.is_empty() {
            return Err(Diagnostic::error(codes::ATTRIBUTE, "keys of random bits are those of no stream")
                .help("name the streams"));
        }
        let mut owners: HashMap<u32, &Name> = HashMap::new();
        for (stream, key) in own.streams.iter().zip(own.keys()) {
            if let Some(owner) = owners.insert(key, stream) {
                let message =
                    format!("the streams `{owner}` and `{stream}` have the same random bits under the seed {seed}");
                return Err(Diagnostic::error(codes::STREAM_CLASH, message));
            }
        }
        Ok(own)
    }

    /// The names of the streams, in the order of their keys.
    pub fn streams(&self) -> &[Name] {
        &self.streams
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The key of each stream.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(|stream| stream_key(self.seed, stream))
    }

    /// The keys as a tensor, `u32[streams]`.
    pub fn tensor(&self) -> HostTensor {
        HostTensor::from_ints(DType::U32, [self.streams.len()], self.keys().map(i128::from))
    }
}

/// Keys as manifests write them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    streams: Vec<String>,
    seed: u64,
}

impl From<StreamKeys> for Written {
    fn from(StreamKeys { streams, seed }: StreamKeys) -> Self {
        Self { streams: streams.iter().map(Name::to_string).collect(), seed }
    }
}

impl TryFrom<Written> for StreamKeys {
    type Error = String;

    fn try_from(Written { streams, seed }: Written) -> std::result::Result<Self, String> {
        Self::new(streams.into_iter().map(Name::from), seed).map_err(|error| error.message().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(streams: &[&str]) -> Result<StreamKeys> {
        StreamKeys::new(streams.iter().copied().map(Name::from), 0)
    }

    #[test]
    fn keys_are_those_of_the_names() {
        let own = keys(&["model.norm.weight", "a"]).unwrap();
        assert_eq!(own.tensor().ints(), [0xa51d_3fa8, i128::from(stream_key(0, "a"))]);
        let text = r#"{"streams":["model.norm.weight","a"],"seed":0}"#;
        assert_eq!(serde_json::to_string(&own).unwrap(), text);
        assert_eq!(serde_json::from_str::<StreamKeys>(text).unwrap(), own);
    }

    #[test]
    fn keys_of_no_stream_and_equal_keys_are_refused() {
        let message = |streams: &[&str]| keys(streams).unwrap_err().message().to_owned();
        assert_eq!(message(&[]), "keys of random bits are those of no stream");
        let clash = "have the same random bits under the seed 0";
        assert_eq!(message(&["w33660", "w94211"]), format!("the streams `w33660` and `w94211` {clash}"));
        assert_eq!(message(&["a", "a"]), format!("the streams `a` and `a` {clash}"));
    }
}
