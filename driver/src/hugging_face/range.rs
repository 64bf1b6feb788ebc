//! Ranges of the values of settings.

use halite_models::families::keys::Range;
use halite_recipe::ConfigValue;
use halite_support::nearest::list;
use serde_json::Value;
use std::borrow::Cow;

/// A JSON value as one of a configuration, if it is in a range.
pub(super) fn read(range: Range, value: &Value) -> Option<ConfigValue> {
    let (value, real) = match value {
        Value::Bool(flag) => return matches!(range, Range::Flag).then_some(ConfigValue::Bool(*flag)),
        Value::Number(number) => {
            let real = number.as_f64()?;
            (number.as_i64().map_or(ConfigValue::Real(real), ConfigValue::Int), real)
        }
        Value::String(text) => {
            let is_word = matches!(range, Range::Word(words) if words.contains(&&**text));
            return is_word.then(|| ConfigValue::Text(text.clone()));
        }
        _ => return None,
    };
    let contains = match range {
        Range::Count => matches!(value, ConfigValue::Int(1..)),
        Range::Positive => real > 0.0,
        Range::NotNegative => real >= 0.0,
        Range::Rate => (0.0..1.0).contains(&real),
        Range::Flag | Range::Word(_) => false,
    };
    contains.then_some(value)
}

/// The expected values, for a message.
pub(super) fn describe(range: Range) -> Cow<'static, str> {
    Cow::Borrowed(match range {
        Range::Count => "a whole number of at least 1",
        Range::Positive => "a number greater than 0",
        Range::NotNegative => "a number of at least 0",
        Range::Rate => "a number from 0 and below 1",
        Range::Flag => "`true` or `false`",
        Range::Word(words) => return Cow::Owned(format!("one of {}", list(words))),
    })
}
