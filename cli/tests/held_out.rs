//! Held-out data are measured once, whatever the batch. Needs the PJRT plugin: `halite plugin install`.

use crate::program::{halite, written};
use serde_json::Value;
use std::path::Path;

const RECIPE: &str = r#"
halite = 1
batch = 1
seq = 16
precision = "fp32"
model = { name = "llama", config = { vocab = 256, hidden = 16, layers = 1, heads = 2, ffn = 32 } }
optimizer.adamw.lr = 1e-3
data.eos = "0"
data.sources = [{ files = ["text.txt"], documents = "line" }]
data.held_out = [{ files = ["text.txt"], documents = "line" }]
"#;

/// Eleven documents of 7 to 17 tokens, ends included.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (6..17).map(|length| format!("{}\n", &"abcde".repeat(4)[..length])).collect();
    std::fs::write(folder.path().join("text.txt"), lines).unwrap();
    std::fs::write(folder.path().join("recipe.toml"), RECIPE).unwrap();
    folder
}

/// The mean loss and its labels, and what was warned of.
fn measured(folder: &Path, packed: bool, batch: usize) -> (f64, u64, String) {
    let [packed, size] = [format!("packed={packed}"), format!("batch={batch}")];
    if !folder.join(&packed).exists() {
        written(folder, &["train", "recipe.toml", "--set", &packed, "--steps", "1", "-o", &packed, "--quiet"]);
    }
    let output =
        halite(folder, &["eval", "recipe.toml", "--set", &packed, "--set", &size, "--state", &packed, "--json"]);
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{warned}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    (json["data"][0]["loss"].as_f64().unwrap(), json["data"][0]["tokens"].as_u64().unwrap(), warned)
}

/// Documents of n tokens predict n - 1: of 7 + ... + 17 = 132 tokens all but the eleven first.
#[test]
fn the_last_batch_of_packed_documents_is_padded() {
    let folder = folder();
    let (loss, labels, _) = measured(folder.path(), true, 1);
    assert_eq!(labels, 121);
    for batch in [3, 4, 32] {
        let (other, labels, warned) = measured(folder.path(), true, batch);
        assert_eq!((labels, warned.contains("held-out")), (121, false), "{batch}: {warned}");
        assert!((other - loss).abs() < 1e-5 * loss, "{batch}: {other} for {loss}");
    }
}

/// 132 tokens are 8 rows of 16 labels, each counted: a model without `segments` cannot tell padding.
#[test]
fn rows_without_a_whole_batch_are_told_of_where_nothing_tells_padding() {
    let folder = folder();
    let left_out = "the last 2 held-out rows of 16 labels are left out: they are less than a batch of 3";
    let repeated = "the 8 held-out rows of 16 labels are repeated until there are 12, a whole batch: some count twice";
    for (batch, expected, told) in [
        (1, 128, None),
        (4, 128, None),
        (3, 96, Some((left_out, "set `batch = 2`, which divides the 8 there are"))),
        (12, 192, Some((repeated, "set `batch = 8`, which divides the 8 there are"))),
    ] {
        let (_, labels, warned) = measured(folder.path(), false, batch);
        assert_eq!(labels, expected, "{batch}: {warned}");
        assert_eq!(warned.contains("held-out rows"), told.is_some(), "{batch}: {warned}");
        let (message, help) = told.unwrap_or_default();
        assert!(warned.contains(message) && warned.contains(help), "{batch}: {warned}");
    }
}
