//! What values of settings are taken.

use halite_recipe::ConfigValue;
use halite_support::nearest::list;
use serde_json::Value;
use std::borrow::Cow;

/// The values that a setting can have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
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

impl Range {
    /// A JSON value as one of a configuration, if it is in the range.
    pub(super) fn read(self, value: &Value) -> Option<ConfigValue> {
        let (value, real) = match value {
            Value::Bool(flag) => return matches!(self, Self::Flag).then_some(ConfigValue::Bool(*flag)),
            Value::Number(number) => {
                let real = number.as_f64()?;
                (number.as_i64().map_or(ConfigValue::Real(real), ConfigValue::Int), real)
            }
            Value::String(text) => return self.words().contains(&&**text).then(|| ConfigValue::Text(text.clone())),
            _ => return None,
        };
        let contains = match self {
            Self::Count => matches!(value, ConfigValue::Int(1..)),
            Self::Positive => real > 0.0,
            Self::NotNegative => real >= 0.0,
            Self::Rate => (0.0..1.0).contains(&real),
            Self::Flag | Self::Word(_) => false,
        };
        contains.then_some(value)
    }

    /// The words among the values.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Word(words) => words,
            _ => &[],
        }
    }

    /// What is expected, for a message.
    pub(super) fn describe(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Count => "a whole number of at least 1",
            Self::Positive => "a number greater than 0",
            Self::NotNegative => "a number of at least 0",
            Self::Rate => "a number from 0 and below 1",
            Self::Flag => "`true` or `false`",
            Self::Word(words) => return Cow::Owned(format!("one of {}", list(words))),
        })
    }
}
