//! What a recipe may say: the keys with the values they take.

use crate::RECIPE_VERSION;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
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
    /// A string that is not empty.
    Text,
    /// A list of strings.
    Texts,
    /// A list of these words.
    Words(&'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table with these keys.
    Table(&'static [Key]),
    /// One of these words, or a table with these keys.
    WordOrTable(&'static [&'static str], &'static [Key]),
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// A table with exactly one of these keys.
    OneOf(&'static [Key]),
    /// A table of plain values under any key.
    Config,
    /// A table of strings under any key.
    Variables,
    /// The name of a target.
    Target,
    /// A string of a certain form.
    Form(Form),
}

/// Strings of a certain form.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What is expected, for a message: `a version such as "2.27"`.
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
                Range::Share => (0.0..=1.0).contains(&value),
            }
    }

    /// The range in words.
    pub fn describe(self) -> &'static str {
        match self {
            Range::Positive => "a number greater than 0",
            Range::NotNegative => "a number of at least 0",
            Range::Decay => "a number at least 0 and less than 1",
            Range::Share => "a number from 0 to 1",
        }
    }
}

impl Kind {
    /// What is expected, for a message.
    pub fn describe(&self) -> String {
        match self {
            Kind::Version => format!("the version {RECIPE_VERSION}"),
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Real(range) => range.describe().to_owned(),
            Kind::Pair(range) => format!("two numbers, each {}", range.describe()),
            Kind::Text => "a string".to_owned(),
            Kind::Texts => "a list of strings".to_owned(),
            Kind::Words(words) => format!("a list of {}", halite_support::nearest::list(words)),
            Kind::Word(words) => format!("one of {}", halite_support::nearest::list(words)),
            Kind::Table(keys) => format!("a table with {}", halite_support::nearest::list(&names(keys))),
            Kind::OneOf(keys) => format!("a table with one of {}", halite_support::nearest::list(&names(keys))),
            Kind::WordOrTable(words, _) => format!("{}, or a table", Kind::Word(words).describe()),
            Kind::Tables(keys) => format!("a list, each entry {}", Kind::Table(keys).describe()),
            Kind::Config => "a table of numbers and booleans".to_owned(),
            Kind::Variables => "a table of strings".to_owned(),
            Kind::Target => "the name of a target".to_owned(),
            Kind::Form(form) => form.expected.to_owned(),
        }
    }
}

/// The names of keys.
pub fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// A key that must be there.
pub const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, required: true }
}

/// A key that may be left out.
pub const fn optional(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, required: false }
}

const SIZE: Kind = Kind::Whole(1, 1 << 24);
const COUNT: Kind = Kind::Whole(0, u32::MAX as i64);
const DEGREE: Kind = Kind::Whole(1, u32::MAX as i64);

/// The keys of a recipe, without the tables of targets.
pub(crate) const RECIPE: &[Key] = &[
    required("halite", Kind::Version),
    optional("batch", SIZE),
    optional("seq", SIZE),
    required("model", Kind::Table(MODEL)),
    optional("precision", Kind::WordOrTable(PRECISIONS, PRECISION)),
    required("optimizer", Kind::OneOf(OPTIMIZERS)),
    optional("schedule", Kind::Table(SCHEDULE)),
    optional("train", Kind::Table(TRAIN)),
    optional("parallel", Kind::Table(PARALLEL)),
    optional("target", Kind::Target),
    optional("dialect", Kind::Table(DIALECT)),
    optional("check", Kind::Table(CHECK)),
];

const DIALECT: &[Key] = &[optional("off", Kind::Texts), optional("on", Kind::Texts)];

/// The names of [`Waiver`](crate::Waiver).
pub const WAIVERS: &[&str] = &["residual-init", "frozen", "unread", "causality"];

const CHECK: &[Key] = &[optional("waive", Kind::Words(WAIVERS))];

const MODEL: &[Key] = &[required("name", Kind::Text), optional("config", Kind::Config)];

/// The names of [`PrecisionName`](crate::PrecisionName).
pub const PRECISIONS: &[&str] = &["fp32", "mixed", "mixed-sr", "bf16-sr", "bf16", "fp64"];

const FLOAT: Kind = Kind::Word(&["bf16", "f16", "f32", "f64"]);

const MASTER: Kind = Kind::Word(&["none", "f32"]);

const PRECISION: &[Key] = &[
    optional("recipe", Kind::Word(PRECISIONS)),
    optional("weight", FLOAT),
    optional("master", MASTER),
    optional("moments", FLOAT),
    optional("operand", FLOAT),
    optional("accumulate", FLOAT),
    optional("sensitive", FLOAT),
    optional("gradient", FLOAT),
    optional("reduce", FLOAT),
    optional("update", FLOAT),
    optional("rounding", Kind::Word(&["rne", "sr"])),
    optional("sr", Kind::Table(SR)),
    optional("override", Kind::Tables(OVERRIDE)),
];

const SR: &[Key] = &[
    optional("sites", Kind::Word(&["weight_write", "all"])),
    optional("by", Kind::Word(&["switch", "dither"])),
    optional("seed", COUNT),
];

const OVERRIDE: &[Key] = &[
    optional("op", Kind::Text),
    optional("scope", Kind::Text),
    optional("parameter", Kind::Text),
    optional("weight", FLOAT),
    optional("master", MASTER),
    optional("moments", FLOAT),
    optional("operand", FLOAT),
    optional("accumulate", FLOAT),
    optional("sensitive", FLOAT),
    optional("gradient", FLOAT),
    optional("reduce", FLOAT),
];

const OPTIMIZERS: &[Key] = &[optional("adamw", Kind::Table(ADAMW)), optional("sgd", Kind::Table(SGD))];

const ADAMW: &[Key] = &[
    required("lr", Kind::Real(Range::Positive)),
    optional("betas", Kind::Pair(Range::Decay)),
    optional("eps", Kind::Real(Range::Positive)),
    optional("weight_decay", Kind::Real(Range::NotNegative)),
    optional("no_decay", Kind::Texts),
    optional("clip_norm", Kind::Real(Range::Positive)),
];

const SGD: &[Key] = &[
    required("lr", Kind::Real(Range::Positive)),
    optional("momentum", Kind::Real(Range::Decay)),
    optional("weight_decay", Kind::Real(Range::NotNegative)),
    optional("no_decay", Kind::Texts),
    optional("clip_norm", Kind::Real(Range::Positive)),
];

const SCHEDULE: &[Key] =
    &[optional("warmup", COUNT), optional("steps", COUNT), optional("floor", Kind::Real(Range::Share))];

const TRAIN: &[Key] = &[optional("seed", Kind::Whole(0, i64::MAX)), optional("steps", COUNT)];

const PARALLEL: &[Key] = &[
    optional("tensor", DEGREE),
    optional("pipeline", DEGREE),
    optional("sequence", Kind::Bool),
    optional("zero1", Kind::Bool),
    optional("global_batch", DEGREE),
];
