//! Calls by name.

use super::{Argument, Caller, ModelBuilder, Tensor};
use crate::ops::{Given, Value};
use halite_support::{Diagnostic, Name, codes};

/// A call of a builtin or a composite. It runs when its results are taken.
#[derive(Debug)]
#[must_use = "a call runs when its results are taken"]
pub struct Call<'b> {
    model: &'b ModelBuilder<'b>,
    name: String,
    given: Vec<(Option<Name>, Argument<'b>)>,
    caller: Caller,
}

impl<'b> Call<'b> {
    pub(super) fn new(model: &'b ModelBuilder<'b>, name: &str, args: Vec<Argument<'b>>, caller: Caller) -> Self {
        Self { model, name: name.to_owned(), given: args.into_iter().map(|arg| (None, arg)).collect(), caller }
    }

    /// The same call with an attribute of the composite, or an argument of the builtin, by name.
    pub fn attr(mut self, name: &str, value: impl Into<Argument<'b>>) -> Self {
        self.given.push((Some(name.into()), value.into()));
        self
    }

    /// The result of a call that has one.
    pub fn one(self) -> Tensor<'b> {
        let [result] = self.results();
        result
    }

    /// The results of a call that has this many, e.g. `let [loss, count] = call.results()`.
    pub fn results<const N: usize>(self) -> [Tensor<'b>; N] {
        let (model, caller) = (self.model, self.caller);
        let poison = || [Tensor::poisoned(model); N];
        let Some(values) = self.run() else { return poison() };
        values.try_into().unwrap_or_else(|values: Vec<Tensor<'b>>| {
            let found = values.len();
            let message = match N {
                1 => format!("this call has {found} results where one is needed"),
                _ => format!("{N} names are given {found} values"),
            };
            model.report(Diagnostic::error(codes::KIND, message).help("take as many results as the op has"), caller);
            poison()
        })
    }

    /// All results; none when the call is wrong or depends on what is.
    pub fn all(self) -> Vec<Tensor<'b>> {
        self.run().unwrap_or_default()
    }

    fn run(self) -> Option<Vec<Tensor<'b>>> {
        let Self { model, name, given, caller } = self;
        let value = |(name, argument)| Some(Given { name, value: model.value(argument, caller)? });
        // All arguments are looked at, so that each mistake in them is told.
        let given: Vec<Option<Given>> = given.into_iter().map(value).collect();
        let given = given.into_iter().collect::<Option<_>>()?;
        let values = model.run(caller, |ops| {
            let values = ops.call(&name, given, &())?;
            let tensor = |value: &Value| match value {
                Value::Tensor(tensor) => Ok(*tensor),
                other => {
                    let message = format!("`{name}` gives {}, not a tensor", ops.describe(other));
                    Err(Diagnostic::error(codes::KIND, message).help("compute numbers in Rust"))
                }
            };
            values.iter().map(tensor).collect::<halite_support::Result<Vec<_>>>()
        })?;
        Some(values.into_iter().map(|value| Tensor::maybe(model, Some(value))).collect())
    }
}
