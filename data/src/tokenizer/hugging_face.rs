//! Tokenizers of Hugging Face: `tokenizer.json`.

use super::{Tokenizer, unknown};
use crate::fingerprint::hex;
use halite_support::{Diagnostic, Result, codes, files};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A tokenizer that was read from a file.
pub(super) struct HuggingFace {
    tokenizer: tokenizers::Tokenizer,
    vocabulary: u64,
    identity: String,
}

impl HuggingFace {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = files::read(path)?;
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(&bytes).map_err(|error| {
            let message = format!("`{}` is not a tokenizer of Hugging Face: {error}", path.display());
            Diagnostic::error(codes::DATA, message).help("give a `tokenizer.json`, or take `bytes`")
        })?;
        // Documents are cut and padded here and not there.
        let whole = tokenizer.with_truncation(None).map(|tokenizer| tokenizer.with_padding(None).get_vocab(true));
        let ids = whole.map_err(|error| broken(error.as_ref()))?;
        let vocabulary = ids.values().max().map_or(0, |last| u64::from(*last) + 1);
        let identity = format!("tokenizer.json with SHA-256 {}", hex(&Sha256::digest(&bytes)));
        Ok(Self { tokenizer, vocabulary, identity })
    }
}

impl Tokenizer for HuggingFace {
    fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| broken(error.as_ref()))?;
        Ok(encoding.get_ids().iter().map(|id| *id as i32).collect())
    }

    fn decode(&self, ids: &[i32]) -> Result<String> {
        let known =
            |&id: &i32| u32::try_from(id).ok().filter(|&id| u64::from(id) < self.vocabulary).ok_or_else(|| unknown(id));
        let ids = ids.iter().map(known).collect::<Result<Vec<u32>>>()?;
        self.tokenizer.decode(&ids, false).map_err(|error| broken(error.as_ref()))
    }

    fn vocabulary(&self) -> u64 {
        self.vocabulary
    }

    fn id(&self, token: &str) -> Option<i32> {
        self.tokenizer.token_to_id(token).and_then(|id| i32::try_from(id).ok())
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }
}

/// What a tokenizer says that cannot do its work.
fn broken(error: &(dyn std::error::Error + Send + Sync)) -> Diagnostic {
    let message = format!("the tokenizer fails: {error}");
    Diagnostic::error(codes::DATA, message).help("try the same text with the tokenizer alone, or take another")
}
