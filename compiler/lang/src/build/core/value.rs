//! Arguments as values of the model language.

use super::Core;
use crate::build::argument::Kind;
use crate::build::{Argument, Caller};
use crate::ops::{MAX_LIST_DEPTH, Value, stated};
use halite_support::{Diagnostic, codes};

impl Core {
    /// The value of an argument; `None` when it is poisoned, or wrong and reported.
    pub(super) fn value(&mut self, argument: Argument, caller: &Caller) -> Option<Value> {
        match argument.0 {
            Kind::Tensor(tensor) => self.tensor(tensor, caller).map(Value::Tensor),
            Kind::Int(value) => Some(Value::int(value)),
            Kind::Product(value, factors) => Some(Value::Int(value, factors)),
            Kind::Real(value) if !value.is_finite() => {
                let help = "use a finite number, e.g. the largest of the element type";
                self.report(not_finite(value).help(help), caller);
                None
            }
            Kind::Real(value) => Some(Value::Real(value)),
            Kind::Bool(value) => Some(Value::Bool(value)),
            Kind::Text(text) => Some(Value::Text(text)),
            Kind::Type(dtype) => Some(Value::Type(stated(self.float, dtype))),
            Kind::List(items) => {
                let items = items.into_iter().map(|item| self.value(item, caller)).collect::<Option<_>>()?;
                let list = Value::list(items);
                if list.is_none() {
                    let message = format!("lists nest more than {MAX_LIST_DEPTH} deep");
                    self.report(Diagnostic::error(codes::LIMIT, message).help("keep the items in one list"), caller);
                }
                list
            }
        }
    }
}

/// A number that the model language cannot say.
pub(super) fn not_finite(value: f64) -> Diagnostic {
    Diagnostic::error(codes::ARITHMETIC, format!("`{value}` is not a finite number"))
}
