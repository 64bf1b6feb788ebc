//! JSON as people read it: what fits into a line stands in one.

use indexmap::IndexMap;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The columns of a line.
const COLUMNS: usize = 120;

/// A value over as many lines as it needs, two spaces deeper for each level. Texts and numbers of a list fill lines.
///
/// # Errors
/// When the value is none of JSON.
pub(crate) fn print(value: &impl Serialize) -> serde_json::Result<String> {
    let tree: Tree = serde_json::from_str(&serde_json::to_string(value)?)?;
    let mut text = String::new();
    tree.write(&mut text, 0, 0);
    text.push('\n');
    Ok(text)
}

/// JSON with its fields in order.
enum Tree {
    /// A text, a number or a word, as it is written.
    Plain(String),
    List(Vec<Tree>),
    Fields(IndexMap<String, Tree>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(plain(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(plain(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(plain(value))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(plain(serde_json::Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Tree::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tree, A::Error> {
        let mut all = IndexMap::new();
        while let Some((key, field)) = fields.next_entry()? {
            all.insert(key, field);
        }
        Ok(Tree::Fields(all))
    }
}

fn plain(value: impl Into<serde_json::Value>) -> Tree {
    Tree::Plain(value.into().to_string())
}

impl Tree {
    /// Writes a value at an indentation, where so many columns of its first line are taken.
    fn write(&self, text: &mut String, indent: usize, taken: usize) {
        if let Some(short) = self.inline(COLUMNS.saturating_sub(taken)) {
            text.push_str(&short);
            return;
        }
        match self {
            Self::Plain(plain) => text.push_str(plain),
            Self::List(items) if items.iter().all(|item| matches!(item, Self::Plain(_))) => {
                fill(text, items, indent + 2)
            }
            Self::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    new_line(text, at, indent + 2);
                    item.write(text, indent + 2, indent + 3);
                }
                end_line(text, ']', indent);
            }
            Self::Fields(fields) => {
                text.push('{');
                for (at, (key, field)) in fields.iter().enumerate() {
                    new_line(text, at, indent + 2);
                    let key = format!("{}: ", serde_json::Value::from(key.as_str()));
                    text.push_str(&key);
                    field.write(text, indent + 2, indent + 3 + key.len());
                }
                end_line(text, '}', indent);
            }
        }
    }

    /// The value in one line, where it has no more than so many columns.
    fn inline(&self, columns: usize) -> Option<String> {
        let mut line = String::new();
        self.add_to(&mut line, columns).then_some(line)
    }

    /// Adds the value to a line as long as there is room; whether there was.
    fn add_to(&self, line: &mut String, columns: usize) -> bool {
        match self {
            Self::Plain(plain) => line.push_str(plain),
            Self::List(items) => {
                line.push('[');
                for (at, item) in items.iter().enumerate() {
                    line.push_str(if at == 0 { "" } else { ", " });
                    if !item.add_to(line, columns) {
                        return false;
                    }
                }
                line.push(']');
            }
            Self::Fields(fields) => {
                line.push('{');
                for (at, (key, field)) in fields.iter().enumerate() {
                    line.push_str(if at == 0 { "" } else { ", " });
                    line.push_str(&serde_json::Value::from(key.as_str()).to_string());
                    line.push_str(": ");
                    if !field.add_to(line, columns) {
                        return false;
                    }
                }
                line.push('}');
            }
        }
        line.len() <= columns
    }
}

/// Lines that are as full as they can be.
fn fill(text: &mut String, items: &[Tree], indent: usize) {
    text.push('[');
    let mut column = COLUMNS;
    for (at, item) in items.iter().enumerate() {
        let Tree::Plain(item) = item else { continue };
        let comma = usize::from(at + 1 < items.len());
        if column + 1 + item.len() + comma > COLUMNS {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(item);
        text.push_str(if comma == 1 { "," } else { "" });
        column += item.len() + comma;
    }
    end_line(text, ']', indent.saturating_sub(2));
}

fn new_line(text: &mut String, at: usize, indent: usize) {
    text.push_str(if at == 0 { "\n" } else { ",\n" });
    text.extend(std::iter::repeat_n(' ', indent));
}

fn end_line(text: &mut String, end: char, indent: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_str, to_value};

    #[derive(Serialize)]
    struct Sample {
        name: &'static str,
        shape: [usize; 2],
        names: Vec<String>,
        empty: [f64; 0],
    }

    #[test]
    fn what_fits_stands_in_a_line() {
        let names: Vec<String> = (0..30).map(|at| format!("layer.{at}")).collect();
        let value = Sample { name: "x", shape: [2, 3], names, empty: [] };
        let text = print(&value).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= COLUMNS), "{text}");
        assert_eq!(lines[1], r#"  "name": "x","#);
        assert_eq!(lines[2], r#"  "shape": [2, 3],"#);
        assert_eq!(lines[3], r#"  "names": ["#);
        assert!(lines[4].starts_with(r#"    "layer.0", "layer.1","#), "{text}");
        assert_eq!(lines[lines.len() - 2], r#"  "empty": []"#);
        assert_eq!(from_str::<Value>(&text).unwrap(), to_value(&value).unwrap());
    }
}
