//! The keys of recipes, with those of targets, update rules and shapes of schedules.

use crate::entry::{Entry, Kind};
use crate::markdown::fenced;
use halite::Session;
use halite_recipe::schema::{Key, Kind as Takes};
use halite_recipe::{Extension, Section};
use halite_support::doc::{first_sentence, paragraphs};

pub(crate) fn entries(session: &Session) -> Vec<Entry> {
    let extension = &session.vocabulary;
    let mut collector = Collector { rules: extension.rules(), shapes: extension.shapes(), entries: Vec::new() };
    collector.table(&halite_recipe::keys(extension, None), &Path::default());
    let targets: Vec<String> =
        extension.targets.variants().map(|variant| format!("- `{}`: {}", variant.name, variant.summary)).collect();
    if let Some(target) = collector.entries.iter_mut().find(|entry| entry.name == "target") {
        target.body.push_str(&format!("\n{}\n", targets.join("\n")));
    }
    collector.entries
}

/// The path of a key.
#[derive(Clone, Debug, Default)]
struct Path {
    /// The tables around it.
    tables: Vec<String>,
    /// Whether one of them is an entry of a list, so that no override reaches the key.
    in_list: bool,
}

impl Path {
    fn key(&self, name: &str) -> String {
        self.tables.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".")
    }

    fn table(&self, name: &str, is_list: bool) -> Self {
        let tables = self.tables.iter().cloned().chain([name.to_owned()]).collect();
        Self { tables, in_list: self.in_list || is_list }
    }
}

struct Collector {
    rules: Vec<&'static Section>,
    shapes: Vec<&'static Section>,
    entries: Vec<Entry>,
}

impl Collector {
    fn table(&mut self, keys: &[Key], path: &Path) {
        let is_rule = |key: &&Key| self.rules.iter().any(|rule| rule.name == key.name) && key.choice.is_some();
        let (rules, plain): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(is_rule);
        plain.into_iter().for_each(|key| self.key(key, path));
        // Groups name rules too, whose settings are described once.
        if path.key("").trim_end_matches('.') == "optimizer" {
            self.rules(&rules, path);
        }
    }

    /// The tables of update rules: what all have once, then what each has of its own.
    fn rules(&mut self, rules: &[&Key], path: &Path) {
        let own = |key: &Key| self.rules.iter().find(|rule| rule.name == key.name).map_or(&[][..], |rule| rule.keys);
        let tables: Vec<(&Key, &[Key], &[Key])> =
            rules.iter().filter_map(|key| Some((*key, inner(&key.kind)?.1, own(key)))).collect();
        let shared = |keys: &[Key], own: &[Key]| -> Vec<Key> {
            keys.iter().filter(|key| own.iter().all(|other| other.name != key.name)).cloned().collect()
        };
        if let Some((_, keys, own)) = tables.first() {
            for key in shared(keys, own) {
                let aliases = tables.iter().map(|(rule, ..)| path.table(rule.name, false).key(key.name));
                let aliases: Vec<String> = aliases.collect();
                let entry = entry(&key, &path.table("<rule>", false), None).with_aliases(aliases);
                self.entries.push(entry);
            }
        }
        for (rule, _, own) in tables {
            let groups = path.table("group", true);
            self.entries.push(entry(rule, path, None).with_aliases([groups.key(rule.name)]));
            for key in own {
                let alias = groups.table(rule.name, false).key(key.name);
                self.entries.push(entry(key, &path.table(rule.name, false), None).with_aliases([alias]));
            }
        }
    }

    fn key(&mut self, key: &Key, path: &Path) {
        let shape = (path.tables == ["schedule"])
            .then(|| self.shapes.iter().find(|shape| shape.keys.iter().any(|own| own.name == key.name)))
            .flatten();
        let mut entry = entry(key, path, shape.map(|shape| shape.name));
        if entry.name == "schedule.shape" {
            let shapes: Vec<String> =
                self.shapes.iter().map(|shape| format!("- `{}`: {}", shape.name, shape.about)).collect();
            entry.body.push_str(&format!("\n{}\n", shapes.join("\n")));
        }
        self.entries.push(entry);
        if let Some((is_list, keys)) = inner(&key.kind) {
            self.table(keys, &path.table(key.name, is_list));
        }
    }
}

/// The keys of the table that a key takes, and whether it takes a list of them.
fn inner(kind: &Takes) -> Option<(bool, &[Key])> {
    match kind {
        Takes::Table(keys) | Takes::WordOrTable(_, keys) | Takes::WholeOrTable(_, _, keys) => Some((false, keys)),
        Takes::Tables(keys) | Takes::WordsOrTables(_, keys) => Some((true, keys)),
        _ => None,
    }
}

/// The words that a key takes.
fn words(kind: &Takes) -> &'static [&'static str] {
    match kind {
        Takes::Word(words) | Takes::Words(words) | Takes::WordOrTable(words, _) | Takes::WordsOrTables(words, _) => {
            words
        }
        _ => &[],
    }
}

fn entry(key: &Key, path: &Path, shape: Option<&str>) -> Entry {
    let doc = paragraphs(key.doc);
    let default = (key.default)();
    let mut body = format!("{doc}\n\n- takes {}\n", key.kind.describe());
    body.push_str(&match (&default, key.required, key.choice) {
        (_, true, Some(choice)) => format!("- one {choice} must be there\n"),
        (_, true, None) => "- must be there\n".to_owned(),
        (Some(value), ..) if !value.is_table() => format!("- `{value}` where it is left out\n"),
        _ => "- may be left out\n".to_owned(),
    });
    if let Some(shape) = shape {
        body.push_str(&format!("- of the shape `{shape}`\n"));
    }
    let meanings = words(&key.kind).iter().zip(key.meanings);
    let meanings: Vec<String> =
        meanings.map(|(word, meaning)| format!("- `\"{word}\"`: {}", paragraphs(meaning))).collect();
    if !meanings.is_empty() {
        body.push_str(&format!("\nThe words mean:\n\n{}\n", meanings.join("\n")));
    }
    if let Some(example) = example(key, path, default.as_ref(), shape) {
        body.push_str(&format!("\n{}\n", fenced("toml", &example)));
    }
    let name = path.key(key.name);
    // What all rules have is called after one of them elsewhere.
    let elsewhere: Vec<&str> = halite_recipe::other_names(&name.replace("<rule>", "adamw")).collect();
    Entry::new(Kind::Recipe, name, first_sentence(&doc), body).with_aliases(elsewhere)
}

/// The key with its default, or with a value that it could have, beside the shape of schedules whose it is.
fn example(key: &Key, path: &Path, default: Option<&toml::Value>, shape: Option<&str>) -> Option<String> {
    if path.in_list || path.tables.iter().any(|table| table.starts_with('<')) {
        return None;
    }
    let value = match (default, &key.kind) {
        (Some(value), _) if !value.is_table() => value.to_string(),
        (_, Takes::Bool) => "true".to_owned(),
        (_, Takes::Whole(least, _) | Takes::WholeOrTable(least, ..)) => (*least).max(1).to_string(),
        (_, Takes::Real(_)) => "0.5".to_owned(),
        (Some(toml::Value::Table(table)), Takes::WordOrTable(words, _)) => {
            let is_word = |value: &&toml::Value| value.as_str().is_some_and(|text| words.contains(&text));
            table.values().find(is_word)?.to_string()
        }
        (_, Takes::Word(words)) => format!("\"{}\"", words.first()?),
        _ => return None,
    };
    let shape = shape.map_or_else(String::new, |shape| format!("shape = \"{shape}\"\n"));
    let line = format!("{shape}{} = {value}", key.name);
    Some(if path.tables.is_empty() { line } else { format!("[{}]\n{line}", path.tables.join(".")) })
}
