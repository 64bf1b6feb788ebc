//! The description of a NEFF in the store.

use serde::{Deserialize, Serialize};

/// `entry.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// The key under which it is stored.
    pub key: String,
    /// The name of the model.
    pub model: String,
    /// The name of the module of it that was compiled first; other modules with the same program share the NEFF.
    pub module: String,
    /// Size of the NEFF in bytes.
    pub bytes: u64,
    /// SHA-256 of the NEFF, in hex.
    pub sha256: String,
    /// SHA-256 of the canonical HLO, in hex.
    pub hlo: String,
    /// The version of the compiler, as it prints it.
    pub compiler: String,
    /// The flags, normalized.
    pub flags: Vec<String>,
    /// The hash of the flags as they were given, as AWS's caches have it.
    pub flag_hash: String,
}

impl Entry {
    /// The entry in the bytes of a file that stands under `key`, or what is wrong with them.
    pub(in crate::neuronx) fn parse(bytes: &[u8], key: &str) -> Result<Self, String> {
        let entry: Self = serde_json::from_slice(bytes).map_err(|error| format!("`entry.json`: {error}"))?;
        if entry.key == key { Ok(entry) } else { Err("`entry.json` is that of another key".to_owned()) }
    }

    /// The text of the file.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("an entry has no map with other keys than text");
        (text + "\n").into_bytes()
    }
}
