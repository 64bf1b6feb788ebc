//! TOML as a tree of values that know where they stand.

use super::nesting;
use halite_support::{Diagnostic, Diagnostics, FileId, Span, codes};
use indexmap::IndexMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The value itself.
    pub(super) value: Value,
    /// The place of the value.
    pub(super) span: Span,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    /// A date or a time, which no recipe has.
    Time,
    List(Vec<Node>),
    Table(Table),
}

/// The entries of a table in the order of the text, each with the place of its key.
pub(super) type Table = IndexMap<String, Entry>;

/// One entry of a table.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The place of the key.
    pub(super) key: Span,
    /// Its value.
    pub(super) node: Node,
}

impl Node {
    /// The value in words, for a message.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            Value::Bool(value) => format!("`{value}`"),
            Value::Whole(value) => value.to_string(),
            Value::Real(value) => format!("{value:?}"),
            Value::Text(_) => "a string".to_owned(),
            Value::Time => "a date or time".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The value under a key of a table.
    pub(super) fn entry(&self, key: &str) -> Option<&Node> {
        let Value::Table(table) = &self.value else { return None };
        table.get(key).map(|entry| &entry.node)
    }

    /// Adds the place of each entry below this one, by its path: `key = value` where both stand together.
    pub(super) fn places(&self, path: &str, places: &mut IndexMap<String, Span>) {
        match &self.value {
            Value::Table(table) => {
                for (key, entry) in table {
                    let path = super::join(path, key);
                    entry.node.places(&path, places);
                    let (key, value) = (entry.key, entry.node.span);
                    let together = key.file == value.file && key.end <= value.start;
                    places.insert(path, if together { Span { end: value.end, ..key } } else { value });
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = super::join(path, &index.to_string());
                    item.places(&path, places);
                    places.insert(path, item.span);
                }
            }
            _ => {}
        }
    }

    /// The value as serde reads it.
    pub(super) fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Bool(value) => toml::Value::Boolean(*value),
            Value::Whole(value) => toml::Value::Integer(*value),
            Value::Real(value) => toml::Value::Float(*value),
            Value::Text(text) => toml::Value::String(text.clone()),
            Value::Time => toml::Value::String(String::new()),
            Value::List(items) => toml::Value::Array(items.iter().map(Node::to_toml).collect()),
            Value::Table(table) => {
                table.iter().map(|(key, entry)| (key.clone(), entry.node.to_toml())).collect::<toml::Table>().into()
            }
        }
    }
}

/// The tree of a whole text.
///
/// # Errors
/// Every error of syntax, or that it nests too deeply.
pub(super) fn parse(file: FileId, text: &str) -> Result<Node, Diagnostics> {
    nesting::check(file, 0, text)?;
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut errors: Diagnostics = errors.iter().map(|error| syntax_error(file, text, error)).collect();
        errors.sort_by_key(|error| error.primary().map(|label| label.span));
        return Err(errors);
    }
    let reader = Reader { file, start: 0 };
    Ok(Node { value: reader.table(root.into_inner())?, span: Span::new(file, 0, 0) })
}

/// The value that `text[range]` spells; a plain word is a string.
///
/// # Errors
/// When it is neither a value nor a word, or nests too deeply.
pub(super) fn parse_value(file: FileId, text: &str, range: Range<usize>) -> Result<Node, Diagnostics> {
    let span = Span::new(file, range.start, range.end);
    let reader = Reader { file, start: range.start };
    let source = &text[range];
    nesting::check(file, reader.start, source)?;
    match DeValue::parse(source) {
        Ok(value) => Ok(Node { span, ..reader.node(value)? }),
        Err(_) if is_word(source) => Ok(Node { value: Value::Text(source.to_owned()), span }),
        Err(error) => {
            let message = format!("`{source}` is not a value: {}", error.message().replace('\n', ", "));
            Err(Diagnostic::error(codes::OVERRIDE, message).at(span, "write it as in TOML").into())
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./*".contains(c))
}

fn syntax_error(file: FileId, text: &str, error: &toml::de::Error) -> Diagnostic {
    let range = error.span().unwrap_or(0..0);
    let message = error.message().trim().replace('\n', ", ");
    let span = Span::new(file, range.start, range.end);
    if message.contains("duplicate key") {
        let message = format!("the key `{}` is given twice", text.get(range).unwrap_or_default());
        return Diagnostic::error(codes::RECIPE_KEY, message).at(span, "again here").help("remove one of the two");
    }
    let help = "write `key = value` as TOML has it, e.g. `batch = 4` or `name = \"llama\"`";
    Diagnostic::error(codes::RECIPE_SYNTAX, message).at(span, "here").help(help)
}

/// Turns parsed TOML of one file into nodes.
struct Reader {
    file: FileId,
    /// The offset in the file at which the TOML begins.
    start: usize,
}

impl Reader {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, self.start + range.start, self.start + range.end)
    }

    fn table(&self, table: DeTable<'_>) -> Result<Value, Diagnostics> {
        let entry = |(key, value): (Spanned<DeString<'_>>, _)| {
            let place = self.span(key.span());
            Ok((key.into_inner().into_owned(), Entry { key: place, node: self.node(value)? }))
        };
        let mut entries = table.into_iter().map(entry).collect::<Result<Vec<(String, Entry)>, Diagnostics>>()?;
        entries.sort_by_key(|(_, entry)| entry.key.start);
        Ok(Value::Table(entries.into_iter().collect()))
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Result<Node, Diagnostics> {
        let span = self.span(value.span());
        let value = match value.into_inner() {
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(value) => Value::Whole(value),
                Err(_) => return Err(too_large(digits.as_str(), span).into()),
            },
            DeValue::Float(digits) => match digits.as_str().parse() {
                Ok(value) => Value::Real(value),
                Err(_) => return Err(too_large(digits.as_str(), span).into()),
            },
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Datetime(_) => Value::Time,
            DeValue::Array(items) => {
                Value::List(items.into_iter().map(|item| self.node(item)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => self.table(table)?,
        };
        Ok(Node { value, span })
    }
}

fn too_large(digits: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::RECIPE_RANGE, format!("the number `{digits}` does not fit in 64 bits"))
        .at(span, "too large")
        .help("write a smaller number")
}
