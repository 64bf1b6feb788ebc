//! Tokenizers of Hugging Face.

use super::corpus::{config, source};
use crate::config::{DataConfig, Packing, SourceConfig};
use crate::dataset::Dataset;
use crate::documents::Documents;
use crate::open;
use std::path::Path;

fn tests_data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data")
}

fn bpe(documents: Documents) -> DataConfig {
    let source = SourceConfig { documents, ..source("book", "pride-and-prejudice.txt") };
    let (tokenizer, pack) = ("bpe-2048.json".to_owned(), Packing::InOrder);
    DataConfig { tokenizer, pack, shuffle: false, ..config(vec![source]) }
}

#[test]
fn ids_are_those_of_the_library_and_documents_end_with_its_mark() {
    let config = bpe(Documents::Blank);
    let mut data = open(&config, &tests_data(), 64, 0).unwrap();
    assert_eq!(data.vocabulary(), 2048);
    let reference = tokenizers::Tokenizer::from_file(tests_data().join("bpe-2048.json")).unwrap();
    let book = std::fs::read_to_string(tests_data().join("pride-and-prejudice.txt")).unwrap();
    let paragraphs = book.split("\n\n").filter(|text| !text.trim().is_empty());
    let end = reference.token_to_id("<|endoftext|>").unwrap() as i32;
    let tokens = paragraphs.take(30).flat_map(|text| {
        let ids = reference.encode(text.trim_start_matches('\n'), false).unwrap();
        ids.get_ids().iter().map(|id| *id as i32).chain([end]).collect::<Vec<_>>()
    });
    let expected: Vec<i32> = tokens.take(64).collect();
    assert_eq!(data.next(1).unwrap().tokens, expected);
}

#[test]
fn marks_are_named_by_text_or_id() {
    let vocabulary = |bos: Option<&str>, eos: Option<&str>| {
        let (bos, eos) = (bos.map(str::to_owned), eos.map(str::to_owned));
        open(&DataConfig { bos, eos, ..bpe(Documents::File) }, &tests_data(), 8, 0)
    };
    let first = |bos, eos| vocabulary(bos, eos).unwrap().next(1).unwrap().tokens[0];
    assert_eq!(first(Some("<|endoftext|>"), None), 0);
    assert_eq!(first(Some("7"), Some("none")), 7);
    assert_eq!(vocabulary(Some("3000"), None).unwrap().vocabulary(), 3001);
    for (bos, eos, message) in [
        (Some("<s>"), None, "`bos` is `<s>`, which is no token of the tokenizer"),
        (None, Some("-1"), "`eos` is `-1`, which is no token of the tokenizer"),
    ] {
        assert_eq!(vocabulary(bos, eos).err().unwrap().message(), message);
    }
}

#[test]
fn other_files_are_no_tokenizers() {
    let config = DataConfig { tokenizer: "README.md".into(), ..bpe(Documents::File) };
    let error = open(&config, &tests_data(), 8, 0).err().unwrap();
    assert!(error.message().contains("README.md` is not a tokenizer of Hugging Face: "), "{error}");
}

/// Tokenizers on which the library would panic, allocate too much memory, or not come to an end.
#[test]
fn tokenizers_that_harm_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let open = |text: &str| {
        std::fs::write(folder.path().join("t.json"), text).unwrap();
        crate::open_tokenizer("t.json", folder.path())
    };
    let with = |part: &str| {
        format!(r#"{{"version":"1.0",{part},"model":{{"type":"BPE","vocab":{{"a":0,"aa":1}},"merges":[["a","a"]]}}}}"#)
    };
    let bytes = r#"{"type":"ByteLevel"},"#.repeat(40);
    let last = r#"{"version":"1.0","model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"far":4294967295}}}"#;
    let words = r#"{"version":"1.0","model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0},
        "continuing_subword_prefix":"","max_input_chars_per_word":1000000000}}"#;
    for (text, why) in [
        (with(r#""decoder":{"type":"ByteLevel",}"#), "trailing comma at line 1"),
        (with(r#""normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}"#), "`Precompiled` is damaged"),
        (with(r#""normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="}"#), "`Precompiled` is damaged"),
        (
            with(&format!(
                r#""pre_tokenizer":{{"type":"Sequence","pretokenizers":[{}{{"type":"ByteLevel"}}]}}"#,
                bytes
            )),
            "more than 4096 bytes",
        ),
        (
            with(&format!(
                r#""decoder":{{"type":"Replace","pattern":{{"String":"a"}},"content":"{}"}}"#,
                "a".repeat(5000)
            )),
            "more than 4096 bytes",
        ),
        (words.to_owned(), "`max_input_chars_per_word` is 1000000000"),
        (last.to_owned(), "the token `far` has the id 4294967295, 2147483647 is the last one"),
    ] {
        let error = open(&text).err().unwrap();
        assert!(error.message().contains("t.json` is not a tokenizer of Hugging Face: "), "{error}");
        assert!(error.message().contains(why), "{error}");
    }
    // A tokenizer that fails only on a text.
    let empty = r#""normalizer":{"type":"Replace","pattern":{"String":""},"content":"x"},
        "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}"#;
    let error = open(&with(empty)).unwrap().encode("aaaa").unwrap_err();
    assert!(error.message().starts_with("the tokenizer fails: "), "{error}");
}
