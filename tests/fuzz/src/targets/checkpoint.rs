//! The manifest of a checkpoint, `checkpoint.json`, and the records of a run beside it.

use super::{put, put_below};
use crate::judge::{Verdict, refused, said};
use crate::target::{TEXT, Target};
use halite_support::SourceMap;
use halite_train::{Checkpoint, Checkpoints, History, Newest};
use std::path::Path;

pub(crate) const TARGET: Target = Target {
    name: "checkpoint",
    share: 60,
    seeds,
    prepare: |folder| {
        let folder = folder.to_path_buf();
        put_below(&folder.join(PLACE).join("state.safetensors"), STATE);
        Box::new(move |input| run(input, &folder))
    },
    ..TEXT
};

/// The folder of the checkpoint in that of its run.
const PLACE: &str = "checkpoints/00000003";

/// A file of tensors that has none.
const STATE: &[u8] = b"\x02\0\0\0\0\0\0\0{}";

fn seeds() -> Vec<Vec<u8>> {
    let sum = halite_bundle::sha256(STATE);
    let file = format!(r#""state.safetensors": {{"bytes": {}, "sha256": "{sum}"}}"#, STATE.len());
    let manifests = [
        format!("{{\n  \"version\": 1,\n  \"update\": 3,\n  \"files\": {{\n    {file}\n  }}\n}}\n"),
        format!("{{\"version\": 1, \"update\": 3, \"files\": {{{file}}}, \"text\": \"{{}}\"}}\n"),
        r#"{"version": 1, "update": 3, "files": {}}"#.to_owned(),
        r#"{"version": 2, "update": 4, "files": {"../x": {"bytes": 0, "sha256": ""}}}"#.to_owned(),
    ];
    let records = [
        "{\"step\":1,\"loss\":6.25,\"grad_norm\":0.5}\n{\"step\":2,\"loss\":\"NaN\"}\n",
        "{\"step\":2,\"data\":\"held out\",\"held_out_loss\":5.5,\"held_out_tokens\":128,\"held_out_z\":0.25}\n",
    ];
    manifests.into_iter().chain(records.map(str::to_owned)).map(String::into_bytes).collect()
}

fn run(input: &[u8], folder: &Path) -> Verdict {
    let sources = SourceMap::new();
    put(&folder.join(PLACE).join("checkpoint.json"), input);
    let opened = Checkpoint::open(&folder.join(PLACE));
    let Newest { checkpoint, passed_over } = Checkpoints::new(folder).newest();
    if checkpoint.as_ref() != opened.as_ref().ok() {
        return Err("the newest checkpoint is another than the only one".to_owned());
    }
    said(&passed_over, &sources)?;
    let history = std::str::from_utf8(input).map(|text| History::parse(text, Path::new("metrics.jsonl")));
    if let Ok(Ok(history)) = &history {
        let again = History::parse(&history.to_json_lines(), Path::new("metrics.jsonl"));
        // Lines are compared, because a NaN is not equal to itself.
        if again.map(|again| again.to_json_lines()) != Ok(history.to_json_lines()) {
            return Err("other records are read than were written".to_owned());
        }
        return Ok(true);
    }
    if let Ok(Err(error)) = history {
        refused(&[error], &sources)?;
    }
    opened.map_or_else(|error| refused(&[error], &sources), |_| Ok(true))
}
