//! Tokenizers of Hugging Face: `tokenizer.json`.

use super::{Tokenizer, sizes, stated, unknown};
use crate::fingerprint::hex;
use halite_support::{Diagnostic, Result, codes, contained, files};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A tokenizer that was read from a file.
pub(super) struct HuggingFace {
    tokenizer: tokenizers::Tokenizer,
    /// The file that it was read from.
    path: PathBuf,
    vocabulary: u64,
    special: BTreeSet<u32>,
    identity: String,
}

impl HuggingFace {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = files::read(path)?;
        let (tokenizer, last) = parse(&bytes).map_err(|why| {
            let message = format!("`{}` is not a tokenizer of Hugging Face: {why}", path.display());
            Diagnostic::error(codes::TOKENIZER, message).help("give a `tokenizer.json`, or take `bytes`")
        })?;
        let vocabulary = last.map_or(0, |last| u64::from(last) + 1);
        let identity = format!("tokenizer.json with SHA-256 {}", hex(&Sha256::digest(&bytes)));
        let added = tokenizer.get_added_tokens_decoder().into_iter();
        let special = added.filter(|(_, token)| token.special).map(|(id, _)| id).collect();
        Ok(Self { tokenizer, path: path.to_owned(), vocabulary, special, identity })
    }
}

/// A tokenizer with its last id, if it has any.
///
/// # Errors
/// With what is wrong.
fn parse(bytes: &[u8]) -> std::result::Result<(tokenizers::Tokenizer, Option<u32>), String> {
    // The library panics on some of what is no JSON, and allots what a file says.
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    sizes::check(&value)?;
    let (tokenizer, ids) = asked(|| {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes)?;
        // Documents are cut and padded here and not there.
        let ids = tokenizer.with_truncation(None)?.with_padding(None).get_vocab(true);
        Ok((tokenizer, ids))
    })?;
    let last = ids.into_iter().max_by(|(a, first), (b, second)| first.cmp(second).then_with(|| b.cmp(a)));
    match last {
        Some((token, id)) if i32::try_from(id).is_err() => {
            Err(format!("the token `{}` has the id {id}, {} is the last one", token.escape_debug(), i32::MAX))
        }
        last => Ok((tokenizer, last.map(|(_, id)| id))),
    }
}

/// The answer of the library, or a panic of it as an error.
fn asked<T>(ask: impl FnOnce() -> tokenizers::Result<T>) -> std::result::Result<T, String> {
    contained(ask)?.map_err(|error| error.to_string())
}

impl Tokenizer for HuggingFace {
    fn encode(&self, text: &str) -> Result<Vec<i32>> {
        let encoding = asked(|| self.tokenizer.encode_fast(text, false)).map_err(broken)?;
        Ok(encoding.get_ids().iter().map(|id| *id as i32).collect())
    }

    fn decode(&self, ids: &[i32]) -> Result<String> {
        let known =
            |&id: &i32| u32::try_from(id).ok().filter(|&id| u64::from(id) < self.vocabulary).ok_or_else(|| unknown(id));
        let ids = ids.iter().map(known).collect::<Result<Vec<u32>>>()?;
        asked(|| self.tokenizer.decode(&ids, false)).map_err(broken)
    }

    fn vocabulary(&self) -> u64 {
        self.vocabulary
    }

    fn id(&self, token: &str) -> Option<i32> {
        self.tokenizer.token_to_id(token).and_then(|id| i32::try_from(id).ok())
    }

    fn has(&self, id: i32) -> bool {
        u32::try_from(id).is_ok_and(|id| self.tokenizer.id_to_token(id).is_some())
    }

    fn is_special(&self, id: i32) -> bool {
        u32::try_from(id).is_ok_and(|id| self.special.contains(&id))
    }

    fn is_marked(&self) -> bool {
        true
    }

    fn stated_end(&self) -> Result<Option<String>> {
        stated::end(&self.path.with_file_name("tokenizer_config.json"))
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }
}

/// The error of a tokenizer that fails.
fn broken(why: String) -> Diagnostic {
    let message = format!("the tokenizer fails: {why}");
    Diagnostic::error(codes::TOKENIZER, message).help("try the same text with the tokenizer alone, or take another")
}
