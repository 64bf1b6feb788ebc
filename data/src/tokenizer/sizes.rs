//! Limits on the memory and time that a `tokenizer.json` would take, as far as that is to be seen before it is used.

use serde_json::{Map, Value};

/// The most bytes that the parts of a tokenizer may make of one byte of text, one after the other. Tokenizers that are in use make a few
/// hundred at most.
const MOST_GROWTH: u64 = 1 << 12;

/// The longest word, in characters, in which a tokenizer looks for the longest pieces: that takes the square of its length. BERT's
/// have 100.
const MOST_LETTERS: u64 = 1 << 14;

/// Checks a `tokenizer.json` against the limits.
///
/// # Errors
/// With what is wrong.
pub(super) fn check(tokenizer: &Value) -> Result<(), String> {
    for (parts, what) in
        [(&["normalizer", "pre_tokenizer"][..], "normalizer and pre-tokenizer"), (&["decoder"], "decoder")]
    {
        let objects = parts.iter().filter_map(|part| tokenizer.get(part)).flat_map(objects);
        let growth = objects.map(grows).try_fold(1_u64, |all, own| Ok::<_, String>(all.saturating_mul(own?)))?;
        if growth > MOST_GROWTH {
            return Err(format!("its {what} may make more than {MOST_GROWTH} bytes of one byte of text"));
        }
    }
    match tokenizer.pointer("/model/max_input_chars_per_word").and_then(Value::as_u64) {
        Some(letters) if letters > MOST_LETTERS => {
            Err(format!("`max_input_chars_per_word` is {letters}, {MOST_LETTERS} is the most"))
        }
        _ => Ok(()),
    }
}

/// All objects in a value that say their `type`.
fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    let (mut found, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values),
            Value::Object(object) => {
                open.extend(object.values());
                found.extend(object.contains_key("type").then_some(object));
            }
            _ => {}
        }
    }
    found
}

/// The number of bytes that a part may make of one.
///
/// # Errors
/// When it cannot be read, as far as the library does not say so itself.
fn grows(object: &Map<String, Value>) -> Result<u64, String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let length = |key: &str| text(key).len().max(1) as u64;
    Ok(match text("type") {
        // A byte is a character of up to two.
        "ByteLevel" => 2,
        "Metaspace" => length("replacement"),
        "Replace" => {
            let pattern = object.get("pattern").and_then(|pattern| pattern.get("String")).and_then(Value::as_str);
            length("content").div_ceil(pattern.map_or(1, |pattern| pattern.len().max(1)) as u64)
        }
        "Precompiled" => longest(text("precompiled_charsmap"))?,
        _ => 1,
    })
}

/// The longest text of a map of SentencePiece: the size of a trie, the trie, and texts that end with a zero.
///
/// # Errors
/// When the trie is longer than the map.
fn longest(map: &str) -> Result<u64, String> {
    let wrong = || "the map of its normalizer `Precompiled` is damaged".to_owned();
    let bytes = base64::decode(map).map_err(|_| wrong())?;
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
    let size = u32::from_le_bytes(*size) as usize;
    let (trie, texts) = rest.split_at_checked(size).filter(|(trie, _)| trie.len() % 4 == 0).ok_or_else(wrong)?;
    if trie.is_empty() {
        return Err(wrong());
    }
    Ok(texts.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(0).max(1) as u64)
}
