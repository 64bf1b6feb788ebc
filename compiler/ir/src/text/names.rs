//! The names of a function's values in IR text.

use super::quoted::{parse_name, print_name, print_string};
use crate::syntax::{Function, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write;

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The hint behind the name of a value in text: none for a plain number.
pub(super) fn hint_of(text: &str) -> Option<Cow<'_, str>> {
    (!is_number(text)).then(|| parse_name(text))
}

/// The names of a function's values, in print order: parameters by their names, values with a hint by that, all others
/// by number. A name that is taken gets a suffix `.1`, `.2` and so on.
#[derive(Debug)]
pub struct ValueNames {
    names: FxHashMap<Value, String>,
}

impl ValueNames {
    /// Names every value that is defined.
    pub fn new(function: &Function) -> Self {
        let mut taken = Taken::default();
        let mut names = FxHashMap::default();
        for param in &function.params {
            let name = taken.unique(&param.name);
            names.entry(param.value).or_insert_with(|| format!("%{}", print_name(&name)));
        }
        let mut next = 0usize;
        for &value in function.insts.iter().flat_map(|inst| &inst.results) {
            let hint = function.values.get(value.index()).and_then(|data| data.hint.as_deref());
            let name = match hint {
                Some(hint) => hinted(&taken.unique(hint)),
                None => taken.numbered(&mut next),
            };
            names.entry(value).or_insert(name);
        }
        Self { names }
    }

    /// The name of a value with its `%`; `%?` for one that is never defined.
    pub fn get(&self, value: Value) -> &str {
        self.names.get(&value).map_or("%?", String::as_str)
    }

    /// Appends the name of a value; `%?7` for one that is never defined.
    pub(super) fn write(&self, out: &mut String, value: Value) {
        match self.names.get(&value) {
            Some(name) => out.push_str(name),
            None => write!(out, "%?{}", value.index()).expect("a string takes any text"),
        }
    }

    /// Appends several names.
    pub(super) fn write_all(&self, out: &mut String, values: &[Value]) {
        for (position, &value) in values.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            self.write(out, value);
        }
    }
}

/// A hint that is a number is quoted, so that it does not read back as a value without one.
fn hinted(name: &str) -> String {
    let name = if is_number(name) { print_string(name) } else { print_name(name) };
    format!("%{name}")
}

/// The names that values have so far, and for each the number that the next value of this name tries first.
#[derive(Default)]
struct Taken(FxHashMap<String, usize>);

impl Taken {
    fn insert(&mut self, name: &str) -> bool {
        let is_new = !self.0.contains_key(name);
        if is_new {
            self.0.insert(name.to_owned(), 1);
        }
        is_new
    }

    fn numbered(&mut self, next: &mut usize) -> String {
        loop {
            let name = next.to_string();
            *next += 1;
            if self.insert(&name) {
                return format!("%{name}");
            }
        }
    }

    fn unique(&mut self, name: &str) -> String {
        if self.insert(name) {
            return name.to_owned();
        }
        loop {
            let next = self.0.entry(name.to_owned()).or_default();
            let suffixed = format!("{name}.{next}");
            *next += 1;
            if self.insert(&suffixed) {
                return suffixed;
            }
        }
    }
}
