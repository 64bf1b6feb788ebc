//! Reading a `config.json` by the tables.

use super::json::{Entry, Object};
use super::keys::{Default, Key, Meaning, SHARED};
use super::rope::{DEFAULT, Scaling, TYPES};
use super::{FAMILIES, Family, Imported, Settings};
use halite_spec::ConfigValue;
use halite_support::nearest::{nearest, suggestion};
use halite_support::{Diagnostic, Diagnostics, FileId, Span, codes};
use serde_json::Value;

/// As [`super::import`].
pub(super) fn import(file: FileId, text: &str) -> Result<Imported, Diagnostics> {
    let object = Object::parse(file, text).map_err(|error| vec![error])?;
    let family = family(&object, file).map_err(|error| vec![error])?;
    let mut reader =
        Reader { family, settings: Settings::new(), mistakes: Vec::new(), warnings: Vec::new(), table: None };
    let keys: Vec<Key> = family.keys.iter().chain(SHARED).copied().collect();
    reader.object(&object, &keys, file);
    reader.unscaled();
    if !reader.mistakes.is_empty() {
        return Err(reader.mistakes);
    }
    let model = (family.model)(&mut reader.settings);
    Ok(Imported { model, settings: reader.settings, warnings: reader.warnings })
}

fn family(object: &Object<'_>, file: FileId) -> Result<&'static Family, Diagnostic> {
    let known: Vec<&str> = FAMILIES.iter().map(|family| family.model_type).collect();
    let Some(entry) = object.get("model_type") else {
        let error = Diagnostic::error(codes::HUGGING_FACE, "the file has no `model_type`");
        return Err(error
            .at(Span::new(file, 0, 0), "no model is named")
            .help("give the `config.json` of a checkpoint of Transformers"));
    };
    let name = entry.value.as_str().unwrap_or_default();
    FAMILIES.iter().copied().find(|family| family.model_type == name).ok_or_else(|| {
        Diagnostic::error(codes::HUGGING_FACE, format!("there is no built-in model for `model_type` {}", entry.value))
            .at(entry.span, "unknown family")
            .help(format!("{} (or write the model as a `.hal` file)", suggestion(name, &known)))
    })
}

struct Reader {
    family: &'static Family,
    settings: Settings,
    mistakes: Diagnostics,
    warnings: Diagnostics,
    /// Where rotary positions are stated.
    table: Option<Span>,
}

impl Reader {
    /// Reads an object whose keys are these.
    fn object(&mut self, object: &Object<'_>, keys: &[Key], file: FileId) {
        for name in object.keys() {
            let (known, entry) = (keys.iter().find(|key| key.name == name), object.get(name));
            match (known, entry) {
                (Some(key), Some(Entry { value: Value::Null, span })) => {
                    self.default(key, key.null, object, || (format!("`{name}` is `null`"), span));
                }
                (Some(key), Some(entry)) => self.stated(key, &entry, object, file),
                _ => self.unknown(name, keys, object, file),
            }
        }
        for key in keys.iter().filter(|key| !object.keys().any(|name| name == key.name)) {
            let missing = || (format!("`{}` is missing", key.name), Span::new(file, 0, 0));
            self.default(key, key.absent, object, missing);
        }
    }

    fn error(&mut self, message: String, span: Span, label: &str, help: String) {
        self.mistakes.push(Diagnostic::error(codes::HUGGING_FACE, message).at(span, label).help(help));
    }

    fn unknown(&mut self, name: &str, keys: &[Key], object: &Object<'_>, file: FileId) {
        let span = object.key_span(name).unwrap_or(Span::new(file, 0, 0));
        let message = format!("unknown key `{name}`: it may change what the model computes");
        let help = match nearest(name, keys.iter().map(|key| key.name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("remove it if it does not; else {}", self.own_model()),
        };
        self.error(message, span, "not a key that Halite knows", help);
    }

    /// What to do when Halite has no model for what a file says.
    fn own_model(&self) -> String {
        format!("write the model as a `.hal` file: `models/{}.hal` is a start", self.family.model_type)
    }

    /// What a key that is left out, or `null`, stands for.
    fn default(&mut self, key: &Key, default: Default, object: &Object<'_>, what: impl FnOnce() -> (String, Span)) {
        if matches!(key.meaning, Meaning::Sets(config) if self.settings.contains_key(config)) {
            return;
        }
        match default {
            Default::Model => {}
            Default::Refused => {
                let (message, span) = what();
                self.error(message, span, "a value is needed", format!("state `{}`", key.name));
            }
            Default::Json(text) => {
                let value = serde_json::from_str(text).unwrap_or(Value::Null);
                self.value(key, &value, None);
            }
            // A mistake in the other key is reported there.
            Default::Key(other) => {
                if let Some(entry) = object.get(other) {
                    self.value(key, &entry.value, Some(entry.span));
                }
            }
        }
    }

    fn stated(&mut self, key: &Key, entry: &Entry, object: &Object<'_>, file: FileId) {
        match key.meaning {
            Meaning::Rope(forms) => self.rope(key, forms, entry, object, file),
            _ => self.value(key, &entry.value, Some(entry.span)),
        }
    }

    fn value(&mut self, key: &Key, value: &Value, span: Option<Span>) {
        let name = key.name;
        match key.meaning {
            Meaning::Ignored | Meaning::Rope(_) => {}
            Meaning::Sets(config) => match (scalar(value), span) {
                (Some(value), _) => self.set(name, config, value, span),
                (None, Some(span)) => {
                    let message = format!("`{name}` is {value}, expected a number, `true` or `false`");
                    self.error(message, span, "not a setting", format!("state a value for `{name}`"));
                }
                (None, None) => {}
            },
            Meaning::Only(expected) => {
                let is = |text: &&str| serde_json::from_str::<Value>(text).is_ok_and(|expected| expected == *value);
                if let (false, Some(span)) = (expected.iter().any(is), span) {
                    let message = format!("`{name}` is `{value}`, Halite computes this model with `{}`", expected[0]);
                    self.error(message, span, "another computation", self.own_model());
                }
            }
            Meaning::Dropout => {
                if let (true, Some(span)) = (value.as_f64() != Some(0.0), span) {
                    let message = format!("`{name}` is {value}, but training has no dropout");
                    let warning = Diagnostic::warning(codes::HUGGING_FACE, message).at(span, "left out");
                    self.warnings.push(warning.help(format!("set `{name}` to 0.0 to say so")));
                }
            }
        }
    }

    /// Sets what a key says, unless another key says something else.
    fn set(&mut self, name: &str, config: &'static str, value: ConfigValue, span: Option<Span>) {
        let earlier = self.settings.insert(config, (value, span));
        if let (Some((other, Some(earlier))), Some(span)) = (earlier, span)
            && other != value
        {
            let error = Diagnostic::error(codes::HUGGING_FACE, format!("`{name}` is stated twice, with two values"));
            self.mistakes.push(error.at(span, "stated here").also(earlier, "and here").help("state it once"));
        }
    }

    /// A table of rotary positions.
    fn rope(&mut self, key: &Key, forms: &'static [Scaling], entry: &Entry, object: &Object<'_>, file: FileId) {
        let Some(table) = object.object(key.name) else {
            let message = format!("`{}` is {}, expected an object", key.name, entry.value);
            return self.error(message, entry.span, "not an object", "give the object that Transformers writes".into());
        };
        let stated = TYPES.iter().find_map(|name| table.get(name));
        let rope_type = stated.as_ref().map_or(DEFAULT, |entry| entry.value.as_str().unwrap_or_default()).to_owned();
        let Some(form) = forms.iter().find(|form| form.rope_type == rope_type) else {
            let span = stated.map_or(entry.span, |entry| entry.span);
            let known: Vec<_> = forms.iter().map(|form| format!("`{}`", form.rope_type)).collect();
            let message = format!("rotary positions of the type `{rope_type}` are not among those of this model");
            let help = format!("it has {}; for others {}", known.join(", "), self.own_model());
            return self.error(message, span, "another computation", help);
        };
        if let Some(first) = self.table.replace(entry.span) {
            let error = Diagnostic::error(codes::HUGGING_FACE, "rotary positions are stated by two tables");
            let error = error.at(entry.span, "one table").also(first, "the other one");
            return self.mistakes.push(error.help("remove one of them"));
        }
        let types = TYPES.map(super::keys::ignored);
        let keys: Vec<Key> = form.keys.iter().chain(&types).copied().collect();
        self.object(&table, &keys, file);
        for &(config, value) in form.fixed {
            self.settings.insert(config, (value, Some(entry.span)));
        }
    }

    /// Where no table says otherwise, rotary positions are those of the default form.
    fn unscaled(&mut self) {
        for key in self.family.keys {
            let Meaning::Rope(forms) = key.meaning else { continue };
            let default = forms.iter().find(|form| form.rope_type == DEFAULT);
            for &(config, value) in default.map_or(&[][..], |form| form.fixed) {
                self.settings.entry(config).or_insert((value, None));
            }
        }
    }
}

/// A JSON value as one of a configuration.
fn scalar(value: &Value) -> Option<ConfigValue> {
    match value {
        Value::Bool(value) => Some(ConfigValue::Bool(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(ConfigValue::Int(whole)),
            None => number.as_f64().filter(|real| real.is_finite()).map(ConfigValue::Real),
        },
        _ => None,
    }
}
