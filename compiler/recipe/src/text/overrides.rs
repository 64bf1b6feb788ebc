//! `--set key=value`.

use super::layer::{choose_bound, choose_rule, keep, put_rule};
use super::replaced::Replaced;
use super::tree::{self, Entry, Node, Table, Value};
use crate::schema::{Key, Kind, names};
use halite_support::{Diagnostic, FileId, Result, Span, codes};

/// The most parts of a key; no key of a recipe has as many.
const MAX_KEYS: usize = 16;

/// Puts one override, the text of `file`, into the tree of a recipe. Update rules whose place another one takes go to `replaced`.
///
/// # Errors
/// When it is not `key=value` or its key leads through a value that is no table.
pub(super) fn apply(
    root: &mut Node,
    file: FileId,
    text: &str,
    known: &[Key],
    replaced: &mut Vec<Replaced>,
) -> Result<()> {
    let Some(equals) = text.find('=') else {
        return Err(malformed(file, text, "has no value"));
    };
    let keys = keys(file, text, equals, known)?;
    if keys.len() > MAX_KEYS {
        return Err(malformed(file, text, "has a key of too many parts"));
    }
    let value = text[equals + 1..].trim_start();
    let start = text.len() - value.len();
    let node = tree::parse_value(file, text, start..start + value.trim_end().len()).map_err(|mut all| all.remove(0))?;
    insert(root, &place(keys, &node, known), node, replaced)
}

/// A key with its place in the override.
type PlacedKey<'a> = (&'a str, Span);

/// The keys before the equals sign. What is below a table of names or patterns is one key, dots and all, in quotes or not.
fn keys<'t>(file: FileId, text: &'t str, equals: usize, known: &[Key]) -> Result<Vec<PlacedKey<'t>>> {
    let (mut start, mut keys, mut kind) = (0, Vec::new(), None::<&Kind>);
    let mut known = Some(known);
    while start <= equals {
        let rest = &text[start..equals];
        let is_whole = matches!(kind, Some(Kind::Lists | Kind::Variables | Kind::Config));
        let end = rest.find('.').filter(|_| !is_whole).unwrap_or(rest.len());
        let key = unquoted(rest[..end].trim());
        if key.is_empty() {
            return Err(malformed(file, text, "has an empty key"));
        }
        let at = start + rest[..end].find(key).unwrap_or(0);
        keys.push((key, Span::new(file, at, at + key.len())));
        kind = known.and_then(|known| known.iter().find(|own| own.name == key)).map(|own| &own.kind);
        known = kind.and_then(Kind::keys);
        start += end + 1;
    }
    Ok(keys)
}

/// A key without the quotes around it.
fn unquoted(key: &str) -> &str {
    let within = |mark: char| key.strip_prefix(mark)?.strip_suffix(mark);
    within('"').or_else(|| within('\'')).unwrap_or(key)
}

fn malformed(file: FileId, text: &str, what: &str) -> Diagnostic {
    Diagnostic::error(codes::OVERRIDE, format!("the override `{text}` {what}"))
        .at(Span::new(file, 0, text.len()), "expected `key=value`")
        .help("write for example `--set batch=4`, `--set optimizer.adamw.lr=1e-3` or `--set layers=2`")
}

/// A bare key that the recipe does not have is one of the model's configuration, if its value can be one.
fn place<'t>(keys: Vec<PlacedKey<'t>>, node: &Node, known: &[Key]) -> Vec<PlacedKey<'t>> {
    let is_setting = matches!(node.value, Value::Bool(_) | Value::Whole(_) | Value::Real(_) | Value::Text(_));
    match keys[..] {
        [(key, span)] if is_setting && !names(known).contains(&key) => {
            vec![("model", span), ("config", span), (key, span)]
        }
        _ => keys,
    }
}

fn insert(root: &mut Node, keys: &[PlacedKey<'_>], node: Node, replaced: &mut Vec<Replaced>) -> Result<()> {
    let Some(((last, last_span), path)) = keys.split_last() else { return Ok(()) };
    let mut table = as_table(root, "the recipe", *last_span)?;
    for (index, (key, span)) in path.iter().enumerate() {
        // Naming another update rule chooses it.
        let is_rule = index == 1 && path[0].0 == "optimizer";
        let kept = if is_rule { choose_rule(table, key, *span, replaced) } else { Table::new() };
        if index == 0 && *key == "precision" {
            name_base(table);
        }
        let empty = || Entry { key: *span, node: Node { value: Value::Table(Table::new()), span: *span } };
        table = as_table(&mut table.entry((*key).to_owned()).or_insert_with(empty).node, key, *span)?;
        keep(table, kept);
    }
    match path {
        [("optimizer", _)] => {
            put_rule(table, last, Entry { key: *last_span, node }, replaced);
            return Ok(());
        }
        [("optimizer", _), _] => choose_bound(table, last),
        _ => {}
    }
    table.insert((*last).to_owned(), Entry { key: *last_span, node });
    Ok(())
}

/// A precision that is stated by name becomes a table that starts from it.
fn name_base(recipe: &mut Table) {
    let Some(Entry { node, .. }) = recipe.get_mut("precision") else { return };
    if let Value::Text(_) = node.value {
        let base = Entry { key: node.span, node: node.clone() };
        node.value = Value::Table([("recipe".to_owned(), base)].into_iter().collect());
    }
}

fn as_table<'a>(node: &'a mut Node, key: &str, span: Span) -> Result<&'a mut Table> {
    match &mut node.value {
        Value::Table(table) => Ok(table),
        _ => Err(Diagnostic::error(codes::OVERRIDE, format!("`{key}` has no keys of its own"))
            .at(span, "not a table")
            .help(format!("write `--set {key}=...`"))),
    }
}
