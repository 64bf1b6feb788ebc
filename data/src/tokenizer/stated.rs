//! Tokens that the configuration of a tokenizer states: `tokenizer_config.json`.

use halite_support::{Diagnostic, Result, codes, files};
use serde_json::Value;
use std::path::Path;

/// The token that ends a text, `eos_token`; none where there is no such file.
pub(super) fn end(path: &Path) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let fault = |why: String| {
        let error = Diagnostic::error(codes::TOKENIZER, format!("`{}` {why}", path.display()));
        error.key("data.eos").help("mend the file, or name the token that ends documents: `data.eos = \"..\"`")
    };
    let bytes = files::read(path)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| fault(format!("is not JSON: {error}")))?;
    // Some write the token alone, others an object with more about it.
    match value.get("eos_token") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(token)) => Ok(Some(token.clone())),
        Some(token) => match token.get("content") {
            Some(Value::String(token)) => Ok(Some(token.clone())),
            _ => Err(fault("has an `eos_token` that is no token, expected its text".to_owned())),
        },
    }
}
