//! Calls by name.

use super::{Argument, Caller, ModelBuilder, Tensor};
use halite_support::{Diagnostic, Name, codes};

/// A call of a builtin or a composite. It runs when its results are taken.
#[derive(Debug)]
#[must_use = "a call runs when its results are taken"]
pub struct Call<'b> {
    model: &'b ModelBuilder,
    name: String,
    given: Vec<(Option<Name>, Argument)>,
    caller: Caller,
}

impl<'b> Call<'b> {
    pub(super) fn new(model: &'b ModelBuilder, name: &str, args: Vec<Argument>, caller: Caller) -> Self {
        Self { model, name: name.to_owned(), given: args.into_iter().map(|arg| (None, arg)).collect(), caller }
    }

    /// The same call with an operand or an attribute of the composite, or an argument of the builtin, by name.
    pub fn named(mut self, name: &str, value: impl Into<Argument>) -> Self {
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
        let (model, caller) = (self.model, self.caller.clone());
        let poison = || [Tensor::new(model, None); N];
        let Some(values) = self.run() else { return poison() };
        values.try_into().unwrap_or_else(|values: Vec<Tensor<'b>>| {
            let found = values.len();
            let message = match N {
                1 => format!("this call has {found} results where one is needed"),
                _ => format!("{N} names are given {found} values"),
            };
            let error = Diagnostic::error(codes::KIND, message).help("take as many results as the op has");
            model.core.borrow_mut().report(error, &caller);
            poison()
        })
    }

    /// All results; none when the call is wrong or depends on what is.
    pub fn all(self) -> Vec<Tensor<'b>> {
        self.run().unwrap_or_default()
    }

    fn run(self) -> Option<Vec<Tensor<'b>>> {
        let Self { model, name, given, caller } = self;
        let tensors = model.core.borrow_mut().call(&name, given, &caller)?;
        Some(tensors.into_iter().map(|tensor| Tensor::new(model, Some(tensor))).collect())
    }
}
