//! A misspelled key is one mistake: each key of each preset, in its text and in overrides.

use crate::Session;
use crate::recipe_file::tree::{self, Node, Value};
use crate::source;
use halite_support::{Diagnostics, SourceMap, Span};

/// Every key of a text with the path to its table and its place.
fn keys(text: &str) -> Vec<(Vec<String>, Span)> {
    fn walk(node: &Node, path: &[String], found: &mut Vec<(Vec<String>, Span)>) {
        let Value::Table(table) = &node.value else { return };
        for (key, entry) in table {
            let path = [path, std::slice::from_ref(key)].concat();
            walk(&entry.node, &path, found);
            found.push((path, entry.key));
        }
    }
    let mut found = Vec::new();
    let file = SourceMap::new().add("preset", text);
    walk(&tree::parse(file, text).unwrap(), &[], &mut found);
    found
}

/// Words that a key is taken for by mistake: a letter less, one twice, two in the wrong order.
fn typos(key: &str) -> Vec<String> {
    let middle = key.len() / 2;
    let letter = &key[middle..=middle];
    let swapped = [&key[..middle - 1], letter, &key[middle - 1..middle], &key[middle + 1..]].concat();
    let mut typos = vec![[&key[..middle], letter, &key[middle..]].concat(), swapped];
    if key.len() > 3 {
        typos.push([&key[..middle], &key[middle + 1..]].concat());
    }
    typos.retain(|typo| typo != key);
    typos
}

/// Everything that is wrong with a recipe and the configuration of its model.
fn mistakes(text: &str, overrides: &[String]) -> Diagnostics {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recipe.toml");
    std::fs::write(&path, text).unwrap();
    let mut session = Session::new();
    match source::load(path.to_str().unwrap(), overrides, &mut session.sources) {
        Ok(source) => session.elaborate(&source).err().unwrap_or_default(),
        Err(mistakes) => mistakes,
    }
}

fn assert_one(mistakes: &Diagnostics, key: &str, what: &str) {
    let meant = format!("did you mean `{key}`?");
    let is_right = matches!(&mistakes[..], [one] if one.help_text().is_some_and(|help| help.starts_with(&meant)));
    assert!(is_right, "{what}, meant `{key}`: {mistakes:#?}");
}

#[test]
fn a_misspelled_key_of_a_preset_is_one_mistake() {
    for (name, text) in halite_models::presets() {
        for (path, span) in keys(text) {
            let key = path.last().unwrap();
            for typo in typos(key) {
                let mut misspelled = text.to_string();
                misspelled.replace_range(span.start as usize..span.end as usize, &typo);
                assert_one(&mistakes(&misspelled, &[]), key, &format!("{name}: {path:?} as {typo}"));
            }
        }
    }
}

#[test]
fn a_misspelled_key_of_an_override_is_one_mistake() {
    let tiny = halite_models::preset("tiny").unwrap();
    let values = [
        ("batch", "4"),
        ("seq", "8"),
        ("target", "trn1"),
        ("precision", "mixed"),
        ("precision.operand", "f32"),
        ("precision.sr.seed", "1"),
        ("model.name", "gpt2"),
        ("model.config.layers", "1"),
        ("layers", "1"),
        ("optimizer.adamw.lr", "1e-3"),
        ("optimizer.sgd.lr", "1e-3"),
        ("schedule.warmup", "1"),
        ("train.seed", "1"),
        ("parallel.tensor", "2"),
        ("parallel.global_batch", "8"),
        ("check.waive", "[]"),
        ("dialect.off", "[]"),
        ("neuron.compiler", "'2.27'"),
        ("neuron.emit.channels", "true"),
    ];
    for (path, value) in values {
        let keys: Vec<&str> = path.split('.').collect();
        for (index, key) in keys.iter().enumerate() {
            for typo in typos(key) {
                let mut keys = keys.clone();
                keys[index] = &typo;
                let text = format!("{}={value}", keys.join("."));
                assert_one(&mistakes(tiny, std::slice::from_ref(&text)), key, &text);
            }
        }
    }
}
