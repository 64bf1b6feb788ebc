//! The meanings of the keys of `config.json`, and the keys that all families share.

/// The key of the base of the frequencies of rotary positions.
pub const ROPE_THETA: &str = "rope_theta";

/// The key of the table of scaled rotary positions of older files, which newer versions of Transformers read too.
pub const ROPE_SCALING: &str = "rope_scaling";

/// A key and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its meaning to Halite.
    pub meaning: Meaning,
    /// The value that Transformers takes where the file leaves the key out.
    pub absent: Unstated,
    /// The value that `null` stands for.
    pub null: Unstated,
}

/// The meaning of a key to Halite.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// The value of this key of the model's configuration, in this range.
    Sets(&'static str, Range),
    /// Something that the model has one way only: one of these values, as JSON.
    Only(&'static [&'static str]),
    /// The angles of rotary positions: a table in one of these forms.
    Rope(&'static [Scaling]),
    /// The number of positions that the checkpoint is made for. The model takes more.
    Positions,
    /// The classes of code that comes with the checkpoint. That of a model may compute anything.
    Code,
    /// Nothing that changes what the model computes.
    Ignored,
}

/// One form of the table of rotary positions.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    /// Its name in files.
    pub rope_type: &'static str,
    /// Its other keys.
    pub keys: &'static [Key],
    /// Settings of the model that belong to it.
    pub fixed: &'static [(&'static str, Fixed)],
}

/// A value of the configuration that stands in these tables.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fixed {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
}

/// The values that a setting can have.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Whole numbers from 1.
    Count,
    /// Numbers greater than 0.
    Positive,
    /// Numbers from 0.
    NotNegative,
    /// Numbers from 0 and below 1.
    Rate,
    /// `true` and `false`.
    Flag,
    /// These words, which the model takes too.
    Word(&'static [&'static str]),
}

/// A value that is not stated.
#[derive(Clone, Copy, Debug)]
pub enum Unstated {
    /// There is none: the file must state one.
    Refused,
    /// The default of the model's definition.
    Model,
    /// This value.
    Value(Fixed),
    /// The value of this other key.
    Key(&'static str),
}

impl Key {
    const fn new(name: &'static str, meaning: Meaning) -> Self {
        Self { name, meaning, absent: Unstated::Model, null: Unstated::Model }
    }

    /// The same with a value for a file that leaves it out.
    pub(super) const fn absent(self, absent: Unstated) -> Self {
        Self { absent, ..self }
    }

    /// The same with a value for `null`.
    pub(super) const fn null(self, null: Unstated) -> Self {
        Self { null, ..self }
    }
}

/// A key that sets a key of the model's configuration and must be stated.
const fn sets(name: &'static str, config: &'static str, range: Range) -> Key {
    Key::new(name, Meaning::Sets(config, range)).absent(Unstated::Refused).null(Unstated::Refused)
}

/// One whose values are whole numbers from 1.
pub(super) const fn count(name: &'static str, config: &'static str) -> Key {
    sets(name, config, Range::Count)
}

/// One whose values are numbers greater than 0.
pub(super) const fn positive(name: &'static str, config: &'static str) -> Key {
    sets(name, config, Range::Positive)
}

/// One whose values are numbers from 0.
pub(super) const fn not_negative(name: &'static str, config: &'static str) -> Key {
    sets(name, config, Range::NotNegative)
}

/// One whose values are these words.
pub(super) const fn word(name: &'static str, config: &'static str, words: &'static [&'static str]) -> Key {
    sets(name, config, Range::Word(words))
}

/// One whose values are `true` and `false`.
pub(super) const fn flag(name: &'static str, config: &'static str) -> Key {
    sets(name, config, Range::Flag)
}

/// A key that must have one of some values, as JSON. Transformers takes the first where the file leaves it out.
pub(super) const fn only(name: &'static str, values: &'static [&'static str]) -> Key {
    Key::new(name, Meaning::Only(values)).null(Unstated::Refused)
}

/// The class of the model, in one of these lists as JSON. The family says it too.
pub(super) const fn class(values: &'static [&'static str]) -> Key {
    only("architectures", values).null(Unstated::Model)
}

/// A rate of dropout, which Transformers takes to be `absent` where the file leaves it out.
pub(super) const fn dropout(name: &'static str, config: &'static str, absent: f64) -> Key {
    sets(name, config, Range::Rate).absent(Unstated::Value(Fixed::Real(absent)))
}

/// Rotary positions in one of some forms.
pub(super) const fn rope(name: &'static str, forms: &'static [Scaling]) -> Key {
    Key::new(name, Meaning::Rope(forms))
}

/// The number of positions that the checkpoint is made for, which Transformers takes to be `absent` where the file leaves it out.
pub(super) const fn positions(name: &'static str, absent: i64) -> Key {
    Key::new(name, Meaning::Positions).absent(Unstated::Value(Fixed::Int(absent)))
}

/// A key that changes nothing.
pub const fn ignored(name: &'static str) -> Key {
    Key::new(name, Meaning::Ignored)
}

/// The keys of every family: where a checkpoint comes from, how text becomes tokens, how text is generated, what a program
/// returns beside logits.
pub static SHARED: &[Key] = &[
    ignored("model_type"),
    ignored("_name_or_path"),
    ignored("transformers_version"),
    ignored("torch_dtype"),
    ignored("dtype"),
    ignored("use_cache"),
    ignored("bos_token_id"),
    ignored("eos_token_id"),
    ignored("pad_token_id"),
    ignored("unk_token_id"),
    ignored("task_specific_params"),
    ignored("output_attentions"),
    ignored("output_hidden_states"),
    ignored("return_dict"),
    ignored("id2label"),
    ignored("label2id"),
    ignored("problem_type"),
    ignored("attn_implementation"),
    ignored("_attn_implementation_autoset"),
    Key::new("auto_map", Meaning::Code),
];
