//! Tokenizers of Hugging Face: what is taken encodes texts and decodes what it made of them.

use super::put;
use crate::judge::{Verdict, refused};
use crate::repository;
use crate::target::{TEXT, Target};
use halite_data::open_tokenizer;
use halite_support::SourceMap;
use std::path::Path;

pub(crate) const TARGET: Target = Target {
    name: "tokenizer",
    share: 60,
    seeds: || repository::contents(&repository::files("tests/fuzz/tokenizers", ".json")),
    prepare: |folder| {
        let folder = folder.to_path_buf();
        Box::new(move |input| run(input, &folder))
    },
    ..TEXT
};

/// Texts at which the parts of tokenizers do something.
const TEXTS: [&str; 4] = [
    "",
    "the theme, 12345 abc-ab\n",
    " \u{e9}a\u{301}\u{4e2d}\u{1f9c2}\u{0}\u{2581}",
    "ababababababababababababababab",
];

fn run(input: &[u8], folder: &Path) -> Verdict {
    put(&folder.join("tokenizer.json"), input);
    let refused = |error| refused(&[error], &SourceMap::new());
    let tokenizer = match open_tokenizer("tokenizer.json", folder) {
        Ok(tokenizer) => tokenizer,
        Err(error) => return refused(error),
    };
    tokenizer.id("<unk>");
    for text in TEXTS {
        match tokenizer.encode(text).and_then(|ids| tokenizer.decode(&ids)) {
            Ok(_) => {}
            Err(error) => return refused(error),
        }
    }
    Ok(true)
}
