//! Texts that people and other programs read are visible characters: a control character in them could end a line, a comment
//! or a field, or steer a terminal.

use halite_support::{Diagnostic, Result, codes};
use serde::Serialize;
use serde_json::Value;

/// Refuses data with a control character in one of its texts or keys; the key of the diagnostic is the path to the text.
///
/// # Errors
/// The first such text.
pub fn check_visible(data: &impl Serialize) -> Result<()> {
    let unexpected = |error: serde_json::Error| Diagnostic::bug(format!("the data cannot be written: {error}"));
    let mut open = vec![(String::new(), serde_json::to_value(data).map_err(unexpected)?)];
    while let Some((path, value)) = open.pop() {
        let at = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
        match value {
            Value::String(text) if text.contains(char::is_control) => return Err(hidden(path, &text)),
            Value::Array(items) => {
                open.extend(items.into_iter().enumerate().rev().map(|(index, item)| (at(&index.to_string()), item)));
            }
            Value::Object(entries) => {
                if let Some(key) = entries.keys().find(|key| key.contains(char::is_control)) {
                    return Err(hidden(path, key));
                }
                open.extend(entries.into_iter().rev().map(|(key, item)| (at(&key), item)));
            }
            _ => {}
        }
    }
    Ok(())
}

fn hidden(path: String, text: &str) -> Diagnostic {
    let message = format!("`{}` in `{path}` holds a control character", text.escape_debug());
    let error = Diagnostic::error(codes::RECIPE_RANGE, message).key(path);
    error.help("remove it: texts are one line of visible characters")
}
