//! The configuration: defaults, overrides, `let`, `require`.

use super::spans::{Globals, blame};
use super::{Elaborator, Eval, Locals, Reported};
use crate::ast::{Binding, Expr, Item, Require};
use crate::ops::Value;
use crate::options::Override;
use crate::resolve::Program;
use crate::suggest::suggest;
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, codes};
use indexmap::IndexMap;

impl Elaborator<'_, '_> {
    /// Evaluates everything outside functions, in order, and returns the configuration.
    pub(super) fn config(&mut self) -> IndexMap<String, ConfigValue> {
        let options = self.options;
        for setting in &options.overrides {
            self.check_key(setting);
        }
        for library in &self.programs[..self.here] {
            self.within(library.home, |cx| cx.constants(library));
        }
        let mut config = IndexMap::new();
        for item in &self.program().model.items {
            match item {
                Item::Config(keys) => {
                    for key in keys {
                        let value = self.key(key);
                        if let Ok(value) = &value {
                            config.insert(key.name.name.to_string(), value.clone());
                        }
                        self.define(key, value.map(|value| to_value(value).named(&key.name.name)));
                    }
                }
                Item::Let(binding) => {
                    let value = self.constant(binding).map(|value| value.named(&binding.name.name));
                    self.define(binding, value);
                }
                Item::Require(require) => _ = self.quiet_if_broken(|cx| cx.require(require)),
                Item::Function(_) | Item::Causal(_) => {}
            }
        }
        config
    }

    fn define(&mut self, binding: &Binding, value: Eval<Value>) {
        self.broken_config |= value.is_err();
        let mut tensors = Vec::new();
        value.iter().for_each(|value| value.tensors(&mut tensors));
        let types = tensors.into_iter().map(|tensor| self.ops.b.ty(tensor).clone()).collect();
        self.global_types.entry((self.here, binding.name.name.clone())).or_insert(types);
        self.globals[self.here].entry(binding.name.name.clone()).or_insert(value);
    }

    /// Evaluates what stands outside of the functions of a library. It names no dimensions: recipes know those of the model.
    fn constants(&mut self, library: &Program<'_>) {
        for item in &library.model.items {
            match item {
                Item::Let(binding) => {
                    let value = self.constant(binding);
                    self.define(binding, value);
                }
                // Refused by `resolve`.
                Item::Config(keys) => keys.iter().for_each(|key| self.define(key, Err(Reported))),
                Item::Require(_) | Item::Function(_) | Item::Causal(_) => {}
            }
        }
    }

    fn constant(&mut self, binding: &Binding) -> Eval<Value> {
        self.quiet_if_broken(|cx| cx.expr(&binding.value, &Locals::new()))
    }

    /// After a first failure of the configuration, later ones are most likely echoes of it.
    fn quiet_if_broken<T>(&mut self, body: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        let (quiet, reported) = (self.broken_config, self.errors.len());
        let result = body(self);
        if quiet {
            self.errors.truncate(reported);
        }
        self.broken_config |= result.is_err();
        result
    }

    fn check_key(&mut self, setting: &Override) {
        let program = self.program();
        if program.config_keys().any(|key| key == setting.key) {
            return;
        }
        let message = format!("model `{}` has no config key `{}`", program.model.name.name, setting.key);
        let error = Diagnostic::error(codes::CONFIG_VALUE, message).or_at(setting.span, "unknown key");
        let keys: Vec<_> = program.config_keys().map(|key| format!("`{key}`")).collect();
        let error = error.note(format!("its keys are {}", keys.join(", ")));
        let error = setting.hint.iter().fold(error, |error, hint| error.help(hint.as_str()));
        self.report(suggest(error, &setting.key, program.config_keys()));
        self.broken_config = true;
    }

    fn key(&mut self, key: &Binding) -> Eval<ConfigValue> {
        let value = self.expr(&key.value, &Locals::new())?;
        let default = match value {
            Value::Int(value, _) => ConfigValue::Int(value),
            Value::Real(value) => ConfigValue::Real(value),
            Value::Bool(value) => ConfigValue::Bool(value),
            Value::Text(value) => ConfigValue::Text(value.to_string()),
            other => return Err(self.wrong_kind("a number, a word in quotes, `true` or `false`", &other, &key.value)),
        };
        let options = self.options;
        match options.overrides.iter().rev().find(|setting| setting.key == *key.name.name) {
            Some(setting) => self.overridden(key, default, setting),
            None => Ok(default),
        }
    }

    /// The value of a setting, which must be of the default's kind; a whole number will do for a real one.
    fn overridden(&mut self, key: &Binding, default: ConfigValue, setting: &Override) -> Eval<ConfigValue> {
        let expected = default.kind();
        match (&default, &setting.value) {
            (ConfigValue::Int(_), ConfigValue::Int(_))
            | (ConfigValue::Bool(_), ConfigValue::Bool(_))
            | (ConfigValue::Text(_), ConfigValue::Text(_)) => return Ok(setting.value.clone()),
            (ConfigValue::Real(_), ConfigValue::Int(value)) => return Ok(ConfigValue::Real(*value as f64)),
            (ConfigValue::Real(_), ConfigValue::Real(value)) if value.is_finite() => return Ok(setting.value.clone()),
            _ => {}
        }
        let message = format!("`{}` must be {expected}, found `{}`", setting.key, setting.value);
        let error = Diagnostic::error(codes::CONFIG_VALUE, message).or_at(setting.span, "set here");
        let error = match error.primary() {
            Some(_) => error.also(key.name.span, format!("the default is `{default}`")),
            None => error.at(key.name.span, format!("the default is `{default}`")),
        };
        Err(self.report(error.help(format!("set `{}` to {expected}", setting.key))))
    }

    fn require(&mut self, require: &Require) -> Eval<()> {
        let condition = &require.condition;
        match self.expr(condition, &Locals::new())? {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) => Err(self.violated(require)),
            other => Err(self.wrong_kind("a condition", &other, condition)),
        }
    }

    fn violated(&mut self, require: &Require) -> Reported {
        let error = Diagnostic::error(codes::REQUIREMENT, &*require.message);
        let error = self.blamed(error, &require.condition, ["required", "does not hold"]);
        self.report(error)
    }

    /// A mistake by what names outside functions stand for in an expression: where they are set, if that has a place, with the expression
    /// beside it under the first label; else at the expression under the second one.
    pub(super) fn blamed(&self, error: Diagnostic, expr: &Expr, [beside, alone]: [&str; 2]) -> Diagnostic {
        let globals = Globals::of(self.program(), &self.globals, self.options);
        let error = blame(globals, &self.ops.b, error, expr);
        match error.primary() {
            Some(_) => error.also(expr.span, beside),
            None => error.at(expr.span, alone),
        }
    }
}

fn to_value(value: ConfigValue) -> Value {
    match value {
        ConfigValue::Int(value) => Value::int(value),
        ConfigValue::Real(value) => Value::Real(value),
        ConfigValue::Bool(value) => Value::Bool(value),
        ConfigValue::Text(value) => Value::Text(value.into()),
    }
}
