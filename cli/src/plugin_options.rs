//! Options that a PJRT plugin gets when it is opened.

use halite_runtime::{ClientOptions, OptionValue};
use std::path::Path;

/// An option of a plugin with its value.
pub(super) type PluginOption = (String, OptionValue);

/// Reads `KEY=VALUE`: a whole number, `true` or `false`, a number with a point, whole numbers between commas, or a text, which quotes
/// keep one.
pub(super) fn parse(text: &str) -> Result<PluginOption, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    if key.is_empty() {
        return Err("expected KEY=VALUE, and there is no key".to_owned());
    }
    Ok((key.to_owned(), typed(value)))
}

fn typed(value: &str) -> OptionValue {
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let ints = || value.split(',').map(|part| part.parse().ok()).collect::<Option<Vec<i64>>>();
    if let Some(text) = quoted {
        return text.into();
    }
    match (value.parse::<bool>(), value.parse::<i64>(), ints(), value.parse::<f32>()) {
        (Ok(value), ..) => value.into(),
        (_, Ok(value), ..) => value.into(),
        (_, _, Some(values), _) => values.into(),
        (.., Ok(value)) if value.is_finite() => value.into(),
        _ => value.into(),
    }
}

/// The options of a plugin that is to have so many devices, unless their number is stated.
pub(super) fn of(plugin: &Path, devices: usize, given: &[PluginOption]) -> ClientOptions {
    const DEVICES: &str = "cpu_device_count";
    let is_stated = given.iter().any(|(key, _)| key == DEVICES);
    let own = if is_stated { ClientOptions::default() } else { ClientOptions::of(plugin, devices) };
    given.iter().fold(own, |options, (key, value)| options.with(key.clone(), value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_types_that_they_look_like() {
        for (text, expected) in [
            ("k=3", OptionValue::Int(3)),
            ("k=-3", OptionValue::Int(-3)),
            ("k=true", OptionValue::Bool(true)),
            ("k=0.5", OptionValue::Float(0.5)),
            ("k=0,1", OptionValue::Ints(vec![0, 1])),
            ("k=cuda", OptionValue::Text("cuda".to_owned())),
            ("k=\"3\"", OptionValue::Text("3".to_owned())),
            ("k=a=b", OptionValue::Text("a=b".to_owned())),
            ("k=nan", OptionValue::Text("nan".to_owned())),
            ("k=", OptionValue::Text(String::new())),
        ] {
            assert_eq!(parse(text), Ok(("k".to_owned(), expected)), "{text}");
        }
        assert!(parse("k").is_err() && parse("=3").is_err());
    }

    #[test]
    fn only_the_plugin_of_the_cpu_is_told_its_devices() {
        let given = [("a".to_owned(), OptionValue::Int(1))];
        let of = |name: &str, given: &[PluginOption]| of(Path::new(name), 4, given);
        assert_eq!(of("/x/xla_cpu_pjrt.so", &[]), ClientOptions::cpu(4));
        assert_eq!(of("/x/xla_cpu_pjrt.so", &given), ClientOptions::cpu(4).with("a", 1));
        assert_eq!(of("/cpu/libneuronpjrt.so", &given), ClientOptions::default().with("a", 1));
        let stated = [("cpu_device_count".to_owned(), OptionValue::Int(2))];
        assert_eq!(of("/x/xla_cpu_pjrt.so", &stated), ClientOptions::cpu(2));
    }
}
