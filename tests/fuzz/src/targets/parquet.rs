//! Tables in Parquet, of which every document is read.

use super::put;
use crate::judge::{Verdict, refused};
use crate::repository;
use crate::target::{TEXT, Target};
use halite_data::{DataConfig, Documents, OnError, Packing, SourceConfig, count};
use halite_support::SourceMap;
use std::path::{Path, PathBuf};

pub(crate) const TARGET: Target = Target {
    name: "parquet",
    share: 60,
    seeds,
    prepare: |folder| {
        let folder = folder.to_path_buf();
        Box::new(move |input| run(input, &folder))
    },
    ..TEXT
};

/// Tables, but for those that become a GiB, which takes its time.
fn seeds() -> Vec<Vec<u8>> {
    let is_small = |path: &PathBuf| !["huge.parquet", "long.parquet"].iter().any(|large| path.ends_with(large));
    let files = repository::files("tests/data/tables", ".parquet").into_iter().filter(is_small);
    repository::contents(&files.collect::<Vec<_>>())
}

const FILE: &str = "x.parquet";

fn run(input: &[u8], folder: &Path) -> Verdict {
    put(&folder.join(FILE), input);
    let source = SourceConfig {
        name: "x".to_owned(),
        files: vec![FILE.to_owned()],
        format: None,
        column: "text".to_owned(),
        documents: Documents::File,
        part: None,
        weight: 1.0,
    };
    let config = DataConfig {
        tokenizer: "bytes".to_owned(),
        bos: None,
        eos: None,
        pack: Packing::default(),
        shuffle: false,
        buffer: None,
        threads: Some(1),
        on_error: OnError::Stop,
        sources: vec![source],
    };
    let read = |config: &DataConfig| count(config, folder, &mut |_| ());
    let error = match read(&config) {
        Ok(_) => return Ok(true),
        Err(error) => error,
    };
    // What a table has that is damaged is passed over, and what it lacks is not.
    if let Err(error) = read(&DataConfig { on_error: OnError::Skip, ..config }) {
        refused(&[error], &SourceMap::new())?;
    }
    refused(&[error], &SourceMap::new())
}
