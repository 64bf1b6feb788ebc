//! A misspelled key is one mistake: each key of each preset, in its text and in overrides.

#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

use halite::Session;
use halite_support::Diagnostics;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Every key of a text with the path to its table and its place.
fn keys(text: &str) -> Vec<(Vec<String>, Range<usize>)> {
    fn walk(table: &DeTable<'_>, path: &[String], found: &mut Vec<(Vec<String>, Range<usize>)>) {
        for (key, entry) in table {
            let path = [path, &[key.get_ref().to_string()]].concat();
            if let DeValue::Table(table) = entry.get_ref() {
                walk(table, &path, found);
            }
            found.push((path, key.span()));
        }
    }
    let mut found = Vec::new();
    walk(DeTable::parse(text).unwrap().get_ref(), &[], &mut found);
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
    match session.load(path.to_str().unwrap(), overrides) {
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
                misspelled.replace_range(span.clone(), &typo);
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
