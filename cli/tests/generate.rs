//! Generation from a trained model, through the binary, on CPU XLA. Needs the PJRT plugin: `halite plugin install`.

use crate::marks::tokenizer;
use crate::program::{halite, written};

/// A small Llama that knows bytes.
const MODEL: [&str; 9] =
    ["tiny", "--set", "layers=1", "--set", "seq=16", "--set", "batch=4", "--set", "optimizer.adamw.lr=0.01"];

/// Each character of it follows from the one before.
const TEXT: &str = "héllo wörd-";

/// A model on the first half of a text, the second being held out.
const RECIPE: &str = r#"
halite = 1
batch = 4
seq = 16
model = { name = "llama", config = { vocab = 256, hidden = 32, layers = 1, heads = 2, ffn = 48, packed = true } }
optimizer.adamw.lr = 1e-3
train.eval_batches = 100
data.sources = [{ files = ["text.txt"], part = "0..0.5" }]
data.held_out = [{ files = ["text.txt"], part = "0.5..1" }]
"#;

/// A folder with a run that has learned the text by heart.
fn learned() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), TEXT.repeat(40)).unwrap();
    let more = ["--text", "text.txt", "--held-out", "0", "--steps", "80", "-o", "run", "--quiet"];
    written(folder.path(), &[&["train"], &MODEL[..], &more].concat());
    folder
}

#[test]
fn a_text_that_was_learned_by_heart_is_written_and_is_no_surprise() {
    let folder = learned();
    let state = ["--state", "run/state.safetensors"];
    let generate = |more: &[&str]| written(folder.path(), &[&["generate"], &MODEL[..], &state, more].concat());
    // Longer than a sequence, so that the window moves, and through characters of two bytes.
    let expected = TEXT.repeat(6);
    let tokens = (expected.len() - 3).to_string();
    assert_eq!(generate(&["--prompt", "hé", "--tokens", &tokens, "--greedy"]), format!("{expected}\n"));

    let drawn = |seed: &str| generate(&["--prompt", "h", "--tokens", "24", "--temperature", "4", "--seed", seed]);
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    // More samples than the model takes at once: each is its own, the first is that of a single one.
    let json =
        generate(&["--prompt", "h", "--tokens", "24", "--temperature", "4", "--seed", "1", "--samples", "5", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let texts: Vec<&str> =
        json["samples"].as_array().unwrap().iter().map(|sample| sample["text"].as_str().unwrap()).collect();
    let different: std::collections::BTreeSet<_> = texts.iter().collect();
    assert_eq!((texts.len(), different.len()), (5, 5));
    assert_eq!(format!("h{}\n", texts[0]), drawn("1"));

    std::fs::write(folder.path().join("other.txt"), "0123456789".repeat(50)).unwrap();
    let data = ["--data", "text.txt", "other.txt", "--json"];
    let json = written(folder.path(), &[&["eval"], &MODEL[..], &state, &data].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let number = |index: usize, key: &str| json["data"][index][key].as_f64().unwrap();
    assert!(number(0, "loss") < 0.2 && number(1, "loss") > 2.0, "{json}");
    assert_eq!(number(0, "perplexity"), number(0, "loss").exp());
    // Of 520 bytes all but the first are labels, in whole sequences of 16: 32 of them, in batches of 4.
    assert_eq!(json["data"][0]["tokens"], 32 * 16);
}

/// The loss is that which training measures on the same data.
#[test]
fn an_evaluation_is_that_of_training() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), TEXT.repeat(60)).unwrap();
    std::fs::write(folder.path().join("recipe.toml"), RECIPE).unwrap();
    let train = ["train", "recipe.toml", "--steps", "3", "-o", "run", "--json"];
    let train: serde_json::Value = serde_json::from_str(&written(folder.path(), &train)).unwrap();
    let eval = ["eval", "recipe.toml", "--state", "run", "--json"];
    let eval: serde_json::Value = serde_json::from_str(&written(folder.path(), &eval)).unwrap();
    assert_eq!(eval["data"][0]["loss"], train["held_out_loss"]);
    assert!(train["held_out_loss"].as_f64().unwrap() < 6.0, "{train}");
}

/// Documents are "abac", once or twice, between marks: what comes after an "a" depends on what came before it.
const MARKED: &str = r#"
halite = 1
batch = 8
seq = 12
precision = "fp32"
model = { name = "llama", config = { vocab = 256, hidden = 32, layers = 2, heads = 2, ffn = 64, packed = true } }
optimizer.adamw.lr = 5e-3
data.bos = "1"
data.eos = "2"
data.sources = [{ files = ["text.txt"], documents = "line" }]
"#;

#[test]
fn prompts_begin_and_texts_end_as_documents_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), "abac\nabacabac\n".repeat(40)).unwrap();
    std::fs::write(folder.path().join("r.toml"), MARKED).unwrap();
    written(folder.path(), &["train", "r.toml", "--steps", "100", "-o", "run", "--quiet"]);
    let generate = |more: &[&str]| {
        let command = ["generate", "r.toml", "--state", "run", "--greedy", "--json"];
        let json = written(folder.path(), &[&command, more].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        json["samples"][0]["text"].as_str().unwrap().to_owned()
    };
    let of_three = |prompt| generate(&["--prompt", prompt, "--tokens", "3"]);
    assert_eq!(of_three("a"), "bac");
    // Whoever wrote the mark meant this one.
    assert_eq!(of_three("\u{1}a"), "bac");
    // The mark alone is enough to begin with.
    assert_eq!(of_three(""), "aba");
    let long = generate(&["--prompt", "a", "--tokens", "20"]);
    assert!(["bac", "bacabac"].contains(&&*long), "{long:?}");
    let on = generate(&["--prompt", "a", "--tokens", "20", "--set", "data.eos=none"]);
    assert_eq!((on.len(), on.contains('\u{2}')), (20, true), "{on:?}");
}

/// A model may know more ids than its tokenizer, in gaps and at the end.
#[test]
fn ids_that_the_tokenizer_lacks_are_not_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = MARKED.replace("data.bos = \"1\"\ndata.eos = \"2\"", "data.tokenizer = \"t.json\"");
    std::fs::write(folder.path().join("text.txt"), "a b\n".repeat(40)).unwrap();
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let with_gaps = tokenizer(&[("<eos>", true)]).replace("\"x\":3", "\"x\":7");
    std::fs::write(folder.path().join("t.json"), with_gaps).unwrap();
    written(folder.path(), &["train", "r.toml", "--steps", "1", "-o", "run", "--quiet"]);
    let state = ["generate", "r.toml", "--state", "run", "--prompt", "a b", "--json"];
    let more = ["--samples", "8", "--tokens", "40", "--temperature", "100", "--set", "data.eos=none"];
    let output = halite(folder.path(), &[&state[..], &more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ids = json["samples"].as_array().unwrap().iter().flat_map(|sample| sample["tokens"].as_array().unwrap());
    let drawn: std::collections::BTreeSet<u64> = ids.map(|id| id.as_u64().unwrap()).collect();
    assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [0, 1, 2, 4, 7]);
    // Tokens that no text is made of are not part of it.
    let texts = json["samples"].as_array().unwrap().iter().map(|sample| sample["text"].as_str().unwrap());
    assert!(texts.into_iter().all(|text| !text.contains("<eos>")));
}

/// A stop text is not part of the output, even when it comes in pieces; text that only begins like one is written.
#[test]
fn a_text_ends_where_it_is_told_to() {
    let folder = learned();
    let generate = |more: &[&str]| {
        let command = ["generate", "run", "--prompt", "hé", "--greedy", "--tokens", "40"];
        written(folder.path(), &[&command, more].concat())
    };
    assert_eq!(generate(&["--stop", "rd"]), "héllo wö\n");
    assert_eq!(generate(&["--stop", "rx", "--stop", "d-h"]), "héllo wör\n");
    let json: serde_json::Value = serde_json::from_str(&generate(&["--stop", " w", "--json"])).unwrap();
    assert_eq!(json["samples"][0]["text"], "llo");
}

/// An input that the logits do not depend on, such as which labels count, need not be fed.
#[test]
fn what_only_the_loss_reads_is_not_fed() {
    let folder = tempfile::tempdir().unwrap();
    let model = "use blocks: embed, project\nmodel answers {\n  config { vocab = 256; hidden = 8; batch = 2; seq = 8 }\n  fn main(tokens: s32[batch, seq + 1], counts: pred[batch, seq + 1]) {\n    x, _ = embed(tokens[:, :seq], vocab, hidden) as table\n    logits = project(x, vocab) as head\n    output logits\n    loss, count = cross_entropy(logits, where(counts[:, 1:], tokens[:, 1:], -100))\n    return loss, count\n  }\n}\n";
    std::fs::write(folder.path().join("m.hal"), model).unwrap();
    written(folder.path(), &["compile", "m.hal", "-q", "-o", "build"]);
    written(folder.path(), &["init", "build", "-o", "state.safetensors"]);
    let text =
        written(folder.path(), &["generate", "m.hal", "--state", "state.safetensors", "--prompt", "A", "--greedy"]);
    assert!(text.starts_with('A'), "{text}");
}
