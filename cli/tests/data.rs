//! `halite data` through the binary.

use crate::program::{halite, written};
use serde_json::{Value, json};
use std::path::Path;

/// Lines of bytes, each with a mark after it that is no byte; half of the rows' documents are cut.
const RECIPE: &str = r#"
halite = 1
batch = 4
seq = 16
model = { name = "llama", config = { vocab = 257, hidden = 32, layers = 1, heads = 2, ffn = 48, packed = true } }
optimizer.adamw.lr = 1e-3
data.eos = "256"
data.shuffle = false
data.on_error = "skip"
data.sources = [{ name = "web", files = ["web-*.jsonl"] }]
data.held_out = [{ files = ["text.txt"], documents = "line" }]
"#;

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&written(folder, &[arguments, &["--json"]].concat())).unwrap()
}

/// A recipe with two files of documents, one of which is none, and a held-out text of a thousand lines.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("recipe.toml", RECIPE);
    write("web-1.jsonl", "{\"text\": \"seven..\"}\n{\"text\": \"eight...\"}\n{\"text\": 3}\n");
    write("web-2.jsonl", "{\"text\": \"a\\nb\"}\n");
    write("text.txt", &"fifteen letters\n".repeat(1000));
    folder
}

#[test]
fn data_are_shown_as_they_are_packed() {
    let folder = folder();
    let shown = json_of(folder.path(), &["data", "show", "recipe.toml"]);
    assert_eq!(shown["width"], 17);
    let [web, held_out] = &shown["data"].as_array().unwrap()[..] else { panic!("{shown}") };
    // 8 and 9 tokens fill a row of 17; 4 are left for another.
    assert_eq!((&web["files"], &web["documents"], &web["tokens"]), (&json!(2), &json!(3), &json!(21)));
    assert_eq!((&web["rows"], &web["efficiency"], &web["whole"]), (&json!(2), &json!(21.0 / 34.0), &json!(true)));
    let mut pieces: Vec<&str> =
        web["first_row"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    pieces.sort_unstable();
    assert_eq!(pieces, ["eight...<256>", "seven..<256>"]);
    assert_eq!(web["skipped"][0]["count"], 1);
    assert_eq!(web["skipped"][0]["example"].as_str().unwrap().rsplit('/').next(), Some("web-1.jsonl:3"));
    assert_eq!((&held_out["purpose"], &held_out["documents"]), (&json!("held out"), &json!(1000)));

    let text = written(folder.path(), &["data", "show", "recipe.toml", "--rows", "10"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("held out+") && text.contains("only the beginning was read"), "{text}");
    let start = json_of(folder.path(), &["data", "show", "recipe.toml", "--rows", "10"]);
    let rows = start["data"][1]["rows"].as_u64().unwrap();
    assert!((10..20).contains(&rows), "{rows}");
    assert_eq!((&start["data"][0]["whole"], &start["data"][1]["whole"]), (&json!(true), &json!(false)));
}

#[test]
fn what_is_counted_is_what_is_written_and_read_again() {
    let folder = folder();
    let counted = json_of(folder.path(), &["data", "count", "recipe.toml"]);
    let written = json_of(folder.path(), &["data", "pack", "recipe.toml", "-o", "out/tokens.bin"]);
    assert_eq!(written["data"], json!([counted["data"][0]]));
    let size = std::fs::metadata(folder.path().join("out/tokens.bin")).unwrap().len();
    assert_eq!(size, 2 * counted["data"][0]["tokens"].as_u64().unwrap());

    let again = RECIPE.replace("web-*.jsonl", "out/tokens.bin").replace("data.eos = \"256\"", "data.bos = \"256\"");
    std::fs::write(folder.path().join("again.toml"), again).unwrap();
    let again = json_of(folder.path(), &["data", "count", "again.toml"]);
    assert_eq!((&again["data"][0]["documents"], &again["data"][0]["tokens"]), (&json!(3), &json!(21)));
}

#[test]
fn what_cannot_be_read_leaves_no_file() {
    let folder = folder();
    // Tokens of the first source are written when the second fails.
    let both = RECIPE.replace("data.sources = [", "data.sources = [{ name = \"text\", files = [\"text.txt\"] }, ");
    std::fs::write(folder.path().join("both.toml"), both.replace("\"skip\"", "\"stop\"")).unwrap();
    let names = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    let output = halite(folder.path(), &["data", "pack", "both.toml", "-o", "tokens.bin"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("web-1.jsonl:3"));
    assert_eq!(names(), before);
}
