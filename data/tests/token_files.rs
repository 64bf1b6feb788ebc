//! Files that the libraries wrote whose formats they are of: `make_tokens.py` beside them made them.

use halite_data::{DataConfig, Dataset as _, Documents, OnError, Packing, Rows, SourceConfig, open, statistics};
use std::path::{Path, PathBuf};

/// Tokens of a row: more than the longest document has.
const WIDTH: usize = 64;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data")
}

/// The documents that the libraries were given.
fn listed() -> Vec<Vec<i32>> {
    let text = std::fs::read_to_string(fixtures().join("tokens/many.json")).expect("it is beside the files");
    serde_json::from_str(&text).expect("it lists documents")
}

fn config(file: &str, pack: Packing) -> DataConfig {
    let source = SourceConfig {
        name: file.to_owned(),
        files: vec![format!("tokens/{file}")],
        format: None,
        column: "text".to_owned(),
        documents: Documents::File,
        part: None,
        weight: 1.0,
    };
    DataConfig {
        tokenizer: "bpe-2048.json".to_owned(),
        bos: None,
        eos: Some("none".to_owned()),
        pack,
        shuffle: false,
        buffer: None,
        threads: None,
        on_error: OnError::Stop,
        sources: vec![source],
    }
}

/// The documents of whole rows.
fn documents(rows: &Rows) -> Vec<Vec<i32>> {
    let mut found = Vec::new();
    for (tokens, segments) in rows.tokens.chunks(rows.width).zip(rows.segments.chunks(rows.width)) {
        for number in 1..=segments.iter().copied().max().unwrap_or(0) {
            let of_it = tokens.iter().zip(segments).filter(|(_, segment)| **segment == number);
            found.push(of_it.map(|(token, _)| *token).collect());
        }
    }
    found
}

#[test]
fn data_sets_of_megatron_have_the_documents_that_it_was_given() {
    let mut expected = listed();
    assert!(expected.iter().all(|document| document.len() <= WIDTH), "each is in a row as a whole");
    expected.retain(|document| !document.is_empty());
    expected.sort();
    for file in ["many-uint16.bin", "many-int32.bin", "many-merged.bin"] {
        let config = config(file, Packing::BestFit);
        let found = &statistics(&config, &fixtures(), WIDTH, None, &mut |_| {}).unwrap()[0];
        let mut found = documents(&open(&config, &fixtures(), WIDTH, 0).unwrap().next(found.rows as usize).unwrap());
        found.sort();
        assert!(found == expected, "{file}: {found:?}");
    }
}

#[test]
fn tokens_come_in_the_order_of_the_files() {
    let flat = listed().concat();
    for file in ["many.npy", "many-uint16.bin", "many-int32.bin", "many-merged.bin"] {
        let mut data = open(&config(file, Packing::InOrder), &fixtures(), flat.len(), 0).unwrap();
        assert_eq!(data.next(1).unwrap().tokens, flat, "{file}");
    }
}
