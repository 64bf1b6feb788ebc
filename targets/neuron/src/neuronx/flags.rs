//! Flags of `neuronx-cc` as data: one spelling for equal flags, and the hash by which AWS's own caches name them.

use crate::settings::given::{self, Given};
use md5::{Digest, Md5};
use std::fmt::Write as _;

/// The flags in one spelling and order, so that equal flags are equal texts: `--name=value`, aliases by their full names,
/// `-O1` as `--optlevel=1`, sorted by name. Flags of one name keep their order, and one that the tables do not know keeps
/// its spelling.
pub(super) fn normalized_flags(flags: &[String]) -> Vec<String> {
    let spelled = |given: &Given<'_>| given.spelled().join("=");
    let mut normalized: Vec<String> = given::read(flags).iter().map(spelled).collect();
    normalized.sort_by(|left, right| name(left).cmp(name(right)));
    normalized
}

fn name(flag: &str) -> &str {
    flag.split('=').next().unwrap_or(flag)
}

/// The hash of a list of flags in the names of AWS's cache folders, `MODULE_<module>+<flags>`: the first eight digits of the
/// MD5 of the list as Python's `json.dumps` writes it. Order and spelling count.
///
/// Source: names in public logs, recomputed (aws-neuron-sdk issues 825 and 868, `compile_flags.json` of the cache).
pub fn flag_hash(flags: &[String]) -> String {
    let words: Vec<String> = flags.iter().map(|flag| python_json(flag)).collect();
    text_flag_hash(&format!("[{}]", words.join(", ")))
}

/// The same in the older form, of flags that are one text: the first eight digits of its MD5.
fn text_flag_hash(flags: &str) -> String {
    Md5::digest(flags).iter().take(4).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// A string as Python's `json.dumps` writes it: ASCII, everything else by `\u` and UTF-16.
fn python_json(text: &str) -> String {
    let mut json = String::from("\"");
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some(quoted @ ('"' | '\\')) => json.extend(['\\', quoted]),
            Some('\n') => json.push_str("\\n"),
            Some('\r') => json.push_str("\\r"),
            Some('\t') => json.push_str("\\t"),
            Some('\u{8}') => json.push_str("\\b"),
            Some('\u{c}') => json.push_str("\\f"),
            Some(plain @ ' '..='~') => json.push(plain),
            _ => json.push_str(&format!("\\u{unit:04x}")),
        }
    }
    json + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn hashes_are_those_of_public_caches() {
        assert_eq!(text_flag_hash(""), "d41d8cd9");
        assert_eq!(text_flag_hash("--model-type=transformer"), "abb26765");
        assert_eq!(text_flag_hash("--model-type transformer --distribution-strategy=llm-training"), "5d2d81ce");
        assert_eq!(flag_hash(&words("--target=trn1")), "e30acd3a");
        assert_eq!(flag_hash(&words("--target=trn1 --model-type=transformer")), "3cc9a3cb");
    }

    #[test]
    fn strings_are_as_python_writes_them() {
        assert_eq!(python_json("a\"\\\n\u{7f}é𝄞"), r#""a\"\\\n\u007f\u00e9\ud834\udd1e""#);
    }

    #[test]
    fn equal_flags_are_equal_texts() {
        let expected = normalized_flags(&words("--target=trn1 --auto-cast=none"));
        assert_eq!(expected, ["--auto-cast=none", "--target=trn1"]);
        for other in ["--auto-cast none --target trn1", "--target trn1 --auto-cast=none"] {
            assert_eq!(normalized_flags(&words(other)), expected, "{other}");
        }
        assert_ne!(normalized_flags(&words("--target=trn2 --auto-cast=none")), expected);
    }

    #[test]
    fn repeated_flags_keep_their_order() {
        let flags = ["--internal-x=2", "--internal-x=1"].map(str::to_owned);
        assert_eq!(normalized_flags(&flags), flags);
        assert_eq!(normalized_flags(&words("-O1 --lnc 1")), ["--logical-nc-config=1", "--optlevel=1"]);
    }
}
