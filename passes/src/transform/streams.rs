//! Keys of streams of random bits.

use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::rounding::stream_key;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The key of each stream under a seed, in their order.
///
/// # Errors
/// When two have one key: their random bits would be the same.
pub(super) fn stream_keys<'s>(streams: &'s IndexSet<Name, FxBuildHasher>, seed: u64) -> Result<Vec<i128>> {
    let mut owners: FxHashMap<u32, &Name> = FxHashMap::default();
    let key = |stream: &'s Name| {
        let key = stream_key(seed, stream);
        match owners.insert(key, stream) {
            None => Ok(i128::from(key)),
            Some(owner) => {
                let message =
                    format!("the streams `{owner}` and `{stream}` have the same random bits under the seed {seed}");
                Err(Diagnostic::error(codes::STREAM_CLASH, message))
            }
        }
    };
    streams.iter().map(key).collect()
}
