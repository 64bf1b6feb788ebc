//! The schema of recipes: the keys with the values they take.

use indexmap::IndexMap;
use serde::Serialize;
use std::borrow::Cow;

/// The recipe format this build reads and writes.
pub const RECIPE_VERSION: u32 = 1;

/// A key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The kind of value that it takes.
    pub kind: Kind,
    /// Its documentation, as [`doc!`](halite_support::doc!) gives it.
    pub doc: &'static str,
    /// The meaning of each word that it takes, in their order; empty where their names say it.
    pub meanings: &'static [&'static str],
    /// Whether it, or another one of its choice, must be there.
    pub required: bool,
    /// The choice that it belongs to; a table states at most one of the keys of a choice.
    pub choice: Option<&'static str>,
    /// The value that it has where it is left out, if there is one.
    pub default: fn() -> Option<toml::Value>,
}

/// The keys of a table.
pub type Keys = Cow<'static, [Key]>;

/// The kind of value that a key takes.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The format version of recipes.
    Version,
    /// `true` or `false`.
    Bool,
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number.
    Real(Range),
    /// Two numbers.
    Pair(Range),
    /// A list of whole numbers from the first to the second.
    Wholes(i64, i64),
    /// A list of numbers.
    Reals(Range),
    /// A string that is not empty.
    Text,
    /// A list of strings.
    Texts,
    /// A list of whole numbers from the first to the second, or a list of strings.
    WholesOrTexts(i64, i64),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table with these keys.
    Table(Keys),
    /// One of these words, or a table with these keys.
    WordOrTable(&'static [&'static str], Keys),
    /// A whole number from the first to the second, or a table with these keys.
    WholeOrTable(i64, i64, Keys),
    /// A list of tables with these keys.
    Tables(Keys),
    /// A list of these words and of tables with these keys.
    WordsOrTables(&'static [&'static str], Keys),
    /// A table of plain values under any key.
    Config,
    /// A table of strings under any key.
    Variables,
    /// A table of lists of strings under any key.
    Lists,
    /// The name of a target.
    Target,
    /// A string of a certain form.
    Form(Form),
}

/// Strings of a certain form.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The expected form, for a message: `a version such as "2.27"`.
    pub expected: &'static str,
    /// Whether a string is of the form.
    pub is_one: fn(&str) -> bool,
}

/// The numbers that are allowed.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Greater than 0.
    Positive,
    /// 0 or greater.
    NotNegative,
    /// From 0 up to but not 1.
    Decay,
    /// Greater than 0 and less than 1.
    Inside,
    /// From 0 to 1.
    Share,
}

impl Range {
    /// Whether a number is allowed. Infinities and NaN never are.
    pub fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Range::Positive => value > 0.0,
                Range::NotNegative => value >= 0.0,
                Range::Decay => (0.0..1.0).contains(&value),
                Range::Inside => 0.0 < value && value < 1.0,
                Range::Share => (0.0..=1.0).contains(&value),
            }
    }

    /// The range in words.
    pub fn describe(self) -> &'static str {
        match self {
            Range::Positive => "a number greater than 0",
            Range::NotNegative => "a number of at least 0",
            Range::Decay => "a number at least 0 and less than 1",
            Range::Inside => "a number greater than 0 and less than 1",
            Range::Share => "a number from 0 to 1",
        }
    }
}

impl Kind {
    /// A size of the step.
    pub const SIZE: Kind = Kind::Whole(1, 1 << 24);
    /// A count or a seed.
    pub const COUNT: Kind = Kind::Whole(0, u32::MAX as i64);
    /// A count of at least 1.
    pub const DEGREE: Kind = Kind::Whole(1, u32::MAX as i64);
    /// A number greater than 0.
    pub const POSITIVE: Kind = Kind::Real(Range::Positive);
    /// A number of at least 0.
    pub const NOT_NEGATIVE: Kind = Kind::Real(Range::NotNegative);
    /// A number from 0 up to but not 1.
    pub const DECAY: Kind = Kind::Real(Range::Decay);
    /// Two such numbers.
    pub const DECAYS: Kind = Kind::Pair(Range::Decay);
    /// A stage of ZeRO.
    pub const ZERO: Kind = Kind::Whole(0, 3);
    /// A list of counts.
    pub const COUNTS: Kind = Kind::Wholes(0, u32::MAX as i64);
    /// A list of numbers from 0 to 1.
    pub const SHARES: Kind = Kind::Reals(Range::Share);
    /// A number greater than 0 and less than 1.
    pub const INSIDE: Kind = Kind::Real(Range::Inside);
    /// A number from 0 to 1.
    pub const SHARE: Kind = Kind::Real(Range::Share);

    /// The keys of the table that it can be, where those are fixed.
    pub(crate) fn keys(&self) -> Option<&[Key]> {
        match self {
            Kind::Table(keys) | Kind::WordOrTable(_, keys) | Kind::WholeOrTable(_, _, keys) => Some(keys),
            _ => None,
        }
    }

    /// The expected value, for a message.
    pub fn describe(&self) -> String {
        match self {
            Kind::Version => format!("the version {RECIPE_VERSION}"),
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Real(range) => range.describe().to_owned(),
            Kind::Pair(range) => format!("two numbers, each {}", range.describe()),
            Kind::Wholes(least, most) => format!("a list, each entry {}", Kind::Whole(*least, *most).describe()),
            Kind::Reals(range) => format!("a list, each entry {}", range.describe()),
            Kind::Text => "a string".to_owned(),
            Kind::Texts => "a list of strings".to_owned(),
            Kind::WholesOrTexts(least, most) => {
                format!("a list of strings, or of whole numbers from {least} to {most}")
            }
            Kind::Words(words) => format!("a list of {}", halite_support::nearest::list(words)),
            Kind::Word(words) => format!("one of {}", halite_support::nearest::list(words)),
            Kind::Table(keys) => match &*needed_choices(keys) {
                [] => format!("a table with {}", halite_support::nearest::list(&names(keys))),
                choices => format!("a table with one of {}", halite_support::nearest::list(choices)),
            },
            Kind::WordOrTable(words, _) => format!("{}, or a table", Kind::Word(words).describe()),
            Kind::WholeOrTable(least, most, _) => format!("{}, or a table", Kind::Whole(*least, *most).describe()),
            Kind::Tables(keys) => format!("a list, each entry {}", Kind::Table(keys.clone()).describe()),
            Kind::WordsOrTables(words, keys) => {
                format!(
                    "a list, each entry {}, or {}",
                    Kind::Word(words).describe(),
                    Kind::Table(keys.clone()).describe()
                )
            }
            Kind::Config => "a table of numbers, booleans and words".to_owned(),
            Kind::Variables => "a table of strings".to_owned(),
            Kind::Lists => "a table of lists of strings".to_owned(),
            Kind::Target => "the name of a target".to_owned(),
            Kind::Form(form) => form.expected.to_owned(),
        }
    }
}

/// A type of values of recipes.
pub trait Field {
    /// The kind of value that a key of this type takes.
    const KIND: Kind;
    /// The meaning of each of its words; empty where it has none.
    const MEANINGS: &'static [&'static str] = &[];
}

/// A type of entries of lists.
pub trait Item {
    /// The kind of a list of them.
    const LIST: Kind;
    /// The meaning of each of its words; empty where it has none.
    const MEANINGS: &'static [&'static str] = &[];
}

/// The entries of a table that are none of its keys.
pub type Others = IndexMap<String, toml::Value>;

/// A value of a key as TOML; `None` for a value that leaves the key out.
pub fn value(value: impl Serialize) -> Option<toml::Value> {
    toml::Value::try_from(value).ok()
}

/// Words that a key takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    /// The words, in the order in which they are listed.
    pub words: &'static [&'static str],
    /// The meaning of each of them, in their order.
    pub meanings: &'static [&'static str],
}

/// An update rule or a shape of schedules, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The keys of its table.
    pub(crate) keys: &'static [Key],
}

/// Adds the defaults of the keys that a table leaves out.
pub(crate) fn fill(table: &mut toml::Table, keys: &[Key]) {
    for key in keys {
        if let (false, Some(value)) = (table.contains_key(key.name), (key.default)()) {
            table.insert(key.name.to_owned(), value);
        }
    }
}

/// A Rust name without the `r#` that marks those that are words of Rust.
pub const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// The names of keys.
pub fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// A key that may be left out.
pub const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, doc, meanings: &[], required: false, choice: None, default: || None }
}

impl Key {
    /// The key as one of those under which a table states `what`; a table has at most one of them.
    #[must_use]
    pub fn choice(self, what: &'static str) -> Self {
        Self { choice: Some(what), ..self }
    }
}

/// The names of the keys of which one must be there.
pub(crate) fn needed_choices(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().filter(|key| key.required && key.choice.is_some()).map(|key| key.name).collect()
}
