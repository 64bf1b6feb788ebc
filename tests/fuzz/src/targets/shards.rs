//! Indices of checkpoints in several files.

use super::put;
use crate::judge::{Verdict, refused};
use crate::repository;
use crate::target::{TEXT, Target};
use halite_bundle::shards;
use halite_support::SourceMap;
use std::path::Path;

/// The checkpoint whose index it is.
const FOLDER: &str = "tests/hugging_face/fixtures/qwen2";
const INDEX: &str = "model.safetensors.index.json";

pub(crate) const TARGET: Target = Target {
    name: "shards",
    share: 99,
    seeds,
    prepare: |folder| {
        for path in repository::files(FOLDER, ".safetensors") {
            let name = path.file_name().unwrap_or_default();
            std::fs::copy(&path, folder.join(name)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let path = folder.join(INDEX);
        Box::new(move |input| run(input, &path))
    },
    ..TEXT
};

/// The index, and smaller ones that say as much as that of two tensors and less.
fn seeds() -> Vec<Vec<u8>> {
    let small = [
        r#"{"weight_map":{}}"#,
        r#"{"metadata":{"total_size":8},"weight_map":{"a":"model-00001-of-00003.safetensors"}}"#,
        r#"{"weight_map":{"a":"model-00001-of-00003.safetensors","b":"../x","c":"expected.safetensors"}}"#,
    ];
    let index = repository::contents(&repository::files(FOLDER, INDEX));
    index.into_iter().chain(small.map(|text| text.as_bytes().to_vec())).collect()
}

fn run(input: &[u8], path: &Path) -> Verdict {
    put(path, input);
    match shards::read(path) {
        Err(mistakes) => refused(&mistakes, &SourceMap::new()),
        Ok(_) => Ok(true),
    }
}
