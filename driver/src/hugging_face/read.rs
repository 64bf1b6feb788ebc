//! Reading a `config.json` by the tables.

use super::json::{Entry, Object};
use super::{Imported, Positions, Settings, TYPES, config_value, range};
use halite_models::families::keys::{Fixed, Key, Meaning, Range, SHARED, Scaling, Unstated, ignored};
use halite_models::families::rope::DEFAULT;
use halite_models::families::{FAMILIES, Family, NoEffect};
use halite_recipe::ConfigValue;
use halite_support::nearest::{list, nearest};
use halite_support::{Diagnostic, Diagnostics, FileId, Span, codes};
use serde_json::Value;

/// As [`super::import`].
pub(super) fn import(file: FileId, text: &str) -> Result<Imported, Diagnostics> {
    let object = Object::parse(file, text)?;
    let family = family(&object, file)?;
    let mut reader =
        Reader { family, settings: Settings::new(), positions: None, mistakes: Diagnostics::new(), table: None };
    let keys: Vec<Key> = family.keys.iter().chain(SHARED).copied().collect();
    reader.object(&object, &keys, file);
    reader.unscaled();
    if !reader.mistakes.is_empty() {
        return Err(reader.mistakes);
    }
    let model = model(family, &mut reader.settings)?;
    Ok(Imported { model, settings: reader.settings, positions: reader.positions })
}

/// The model of a family that computes these settings. The settings that it does without are removed.
fn model(family: &Family, settings: &mut Settings) -> Result<&'static str, Diagnostic> {
    let stated = |key: &str| settings.get(key).map(|(value, _)| value.clone());
    let whole = |key: &str| if let Some(ConfigValue::Int(value)) = stated(key) { Some(value) } else { None };
    let is_quotient = |key: &str, of: &str, by: &str| {
        let product = whole(key).zip(whole(by)).and_then(|(quotient, by)| quotient.checked_mul(by));
        product.is_some() && product == whole(of)
    };
    let changes_nothing = |(key, no_effect): &(&str, NoEffect)| match *no_effect {
        NoEffect::Always => true,
        NoEffect::At(fixed) => stated(key) == Some(config_value(fixed)),
        NoEffect::AtQuotient(of, by) => stated(key).is_none() || is_quotient(key, of, by),
    };
    let model = family.models.iter().find(|model| model.without.iter().all(changes_nothing));
    let model =
        model.ok_or_else(|| Diagnostic::bug(format!("no model of `{}` has all settings", family.model_type)))?;
    settings.retain(|key, _| model.without.iter().all(|(own, _)| own != key));
    Ok(model.name)
}

fn family(object: &Object<'_>, file: FileId) -> Result<&'static Family, Diagnostic> {
    let known: Vec<&str> = FAMILIES.iter().map(|family| family.model_type).collect();
    let Some(entry) = object.get("model_type") else {
        let error = Diagnostic::error(codes::HUGGING_FACE, "the file has no `model_type`");
        return Err(error
            .at(Span::new(file, 0, 0), "no model is named")
            .help("give the `config.json` of a checkpoint of Transformers"));
    };
    let entry = entry?;
    let name = entry.value.as_str().unwrap_or_default();
    FAMILIES.iter().copied().find(|family| family.model_type == name).ok_or_else(|| {
        let error = format!("there is no built-in model for `model_type` {}", entry.value);
        let error = Diagnostic::error(codes::HUGGING_FACE, error).at(entry.span, "no built-in family");
        // Programs write the name, so that it is hardly a misspelled one of ours.
        let relative = |family: &&Family| {
            let (_, differs) = family.relatives.iter().find(|(relative, _)| *relative == name)?;
            Some((family.model_type, *differs))
        };
        match FAMILIES.iter().find_map(relative) {
            Some((built_in, differs)) => error
                .note(format!("it is like `{built_in}`, but {differs}"))
                .help(format!("write the model as a `.hal` file: `models/{built_in}.hal` is a start")),
            None => error.help(format!("write the model as a `.hal` file; built in are {}", list(&known))),
        }
    })
}

/// Prefix of the names of Transformers' classes of models. The other classes are of configurations, tokenizers and such.
const MODEL_CLASS: &str = "AutoModel";

struct Reader {
    family: &'static Family,
    settings: Settings,
    positions: Option<Positions>,
    mistakes: Diagnostics,
    /// The place of the table of rotary positions.
    table: Option<Span>,
}

impl Reader {
    /// Reads an object whose keys are these. The order of its keys does not matter: what a key leaves open may be stated by
    /// another, or by a table.
    fn object(&mut self, object: &Object<'_>, keys: &[Key], file: FileId) {
        let mut tables = Vec::new();
        for name in object.keys() {
            match keys.iter().find(|key| key.name == name) {
                Some(Key { meaning: Meaning::Rope(forms), .. }) if let Some(table) = object.object(name) => {
                    tables.push((*forms, table));
                }
                Some(key) => self.known(key, object),
                None => self.unknown(name, keys, object, file),
            }
        }
        for (forms, table) in tables {
            match table {
                Ok(table) => self.rope(forms, &table, file),
                Err(error) => self.mistakes.push(error),
            }
        }
        for key in keys {
            self.open(key, object, file);
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

    /// The help where Halite has no model for a file.
    fn own_model(&self) -> String {
        format!("write the model as a `.hal` file: `models/{}.hal` is a start", self.family.model_type)
    }

    /// Reads a key that is left out, or `null`.
    fn open(&mut self, key: &Key, object: &Object<'_>, file: FileId) {
        let name = key.name;
        match object.get(name) {
            None => {
                self.default(key, key.absent, object, || (format!("`{name}` is missing"), Span::new(file, 0, 0)));
            }
            Some(Ok(Entry { value: Value::Null, span })) => {
                self.default(key, key.null, object, || (format!("`{name}` is `null`"), span));
            }
            Some(_) => {}
        }
    }

    /// Sets the default of a key that is not stated.
    fn default(&mut self, key: &Key, default: Unstated, object: &Object<'_>, what: impl FnOnce() -> (String, Span)) {
        if matches!(key.meaning, Meaning::Sets(config, _) if self.settings.contains_key(config)) {
            return;
        }
        match (default, key.meaning) {
            (Unstated::Refused, _) => {
                let (message, span) = what();
                self.error(message, span, "a value is needed", format!("state `{}`", key.name));
            }
            (Unstated::Value(value), Meaning::Sets(config, _)) => {
                _ = self.settings.insert(config, (config_value(value), None));
            }
            (Unstated::Value(Fixed::Int(count)), Meaning::Positions) => {
                self.positions = Some(Positions { count, span: what().1, is_stated: false });
            }
            // A mistake in the other key is reported there.
            (Unstated::Key(other), Meaning::Sets(config, range)) => {
                if let Some(Ok(entry)) = object.get(other)
                    && let Some(value) = range::read(range, &entry.value)
                {
                    self.set(key.name, config, value, entry.span);
                }
            }
            _ => {}
        }
    }

    /// Reads a key that is stated, and known.
    fn known(&mut self, key: &Key, object: &Object<'_>) {
        if let (Meaning::Code, Some(classes)) = (key.meaning, object.object(key.name)) {
            return match classes {
                Ok(classes) => self.code(&classes),
                Err(error) => self.mistakes.push(error),
            };
        }
        match object.get(key.name) {
            Some(Ok(entry)) if !entry.value.is_null() => self.value(key, &entry.value, entry.span),
            Some(Err(error)) if !matches!(key.meaning, Meaning::Ignored) => self.mistakes.push(error),
            _ => {}
        }
    }

    fn value(&mut self, key: &Key, value: &Value, span: Span) {
        let name = key.name;
        match key.meaning {
            Meaning::Ignored => {}
            Meaning::Rope(_) | Meaning::Code => {
                let message = format!("`{name}` is {value}, expected an object");
                self.error(message, span, "not an object", "give the object that Transformers writes".into());
            }
            Meaning::Sets(config, range) => match range::read(range, value) {
                Some(value) => self.set(name, config, value, span),
                None => self.out_of_range(name, value, range, span),
            },
            Meaning::Positions => match range::read(Range::Count, value) {
                Some(ConfigValue::Int(count)) => self.positions = Some(Positions { count, span, is_stated: true }),
                _ => self.out_of_range(name, value, Range::Count, span),
            },
            Meaning::Only(expected) => {
                let is = |text: &&str| serde_json::from_str::<Value>(text).is_ok_and(|expected| expected == *value);
                if !expected.iter().any(is) {
                    let message = format!("`{name}` is `{value}`, Halite computes this model with `{}`", expected[0]);
                    self.error(message, span, "another computation", self.own_model());
                }
            }
        }
    }

    fn out_of_range(&mut self, name: &str, value: &Value, range: Range, span: Span) {
        let message = format!("`{name}` is {value}, expected {}", range::describe(range));
        let help = match range {
            Range::Word(_) => self.own_model(),
            _ => format!("choose another value for `{name}`"),
        };
        self.error(message, span, "not such a value", help);
    }

    /// Sets the value of a key, unless another key says something else.
    fn set(&mut self, name: &str, config: &'static str, value: ConfigValue, span: Span) {
        let earlier = self.settings.insert(config, (value.clone(), Some(span)));
        if let Some((other, Some(earlier))) = earlier
            && other != value
        {
            let error = Diagnostic::error(codes::HUGGING_FACE, format!("`{name}` is stated twice, with two values"));
            self.mistakes.push(error.at(span, "stated here").also(earlier, "and here").help("state it once"));
        }
    }

    /// Refuses code that comes with the checkpoint if it has a class of a model. The keys are the classes of Transformers that the code
    /// stands for.
    fn code(&mut self, classes: &Object<'_>) {
        let model = classes.keys().find(|name| name.starts_with(MODEL_CLASS));
        if let Some(name) = model {
            let span = classes.key_span(name).unwrap_or(classes.span());
            let message =
                format!("`auto_map` names code of its own for `{name}`: it may change what the model computes");
            let help = format!("remove it if it does not; else {}", self.own_model());
            self.error(message, span, "not the code of Transformers", help);
        }
    }

    /// Reads a table of rotary positions.
    fn rope(&mut self, forms: &'static [Scaling], table: &Object<'_>, file: FileId) {
        let stated = match TYPES.iter().find_map(|name| table.get(name)).transpose() {
            Ok(stated) => stated,
            Err(error) => return self.mistakes.push(error),
        };
        let rope_type = stated.as_ref().map_or(DEFAULT, |entry| entry.value.as_str().unwrap_or_default()).to_owned();
        let Some(form) = forms.iter().find(|form| form.rope_type == rope_type) else {
            let span = stated.map_or(table.span(), |entry| entry.span);
            let known: Vec<_> = forms.iter().map(|form| format!("`{}`", form.rope_type)).collect();
            let message = format!("rotary positions of the type `{rope_type}` are not among those of this model");
            let help = format!("it has {}; for others {}", known.join(", "), self.own_model());
            return self.error(message, span, "another computation", help);
        };
        if let Some(first) = self.table.replace(table.span()) {
            let error = Diagnostic::error(codes::HUGGING_FACE, "rotary positions are stated by two tables");
            let error = error.at(table.span(), "one table").also(first, "the other one");
            return self.mistakes.push(error.help("remove one of them"));
        }
        let types = TYPES.map(ignored);
        let keys: Vec<Key> = form.keys.iter().chain(&types).copied().collect();
        self.object(table, &keys, file);
        for &(config, value) in form.fixed {
            self.settings.insert(config, (config_value(value), Some(table.span())));
        }
    }

    /// Sets rotary positions to the default form, where no table says otherwise.
    fn unscaled(&mut self) {
        for key in self.family.keys {
            let Meaning::Rope(forms) = key.meaning else { continue };
            let default = forms.iter().find(|form| form.rope_type == DEFAULT);
            for &(config, value) in default.map_or(&[][..], |form| form.fixed) {
                self.settings.entry(config).or_insert_with(|| (config_value(value), None));
            }
        }
    }
}
