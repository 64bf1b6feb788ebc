//! Calls of operators, builtins and composites.

use super::{Core, Handle};
use crate::build::{Argument, BinaryOp, Caller, Subscript};
use crate::ops::{Given, Indexed, Ops, Value, op_names};
use halite_support::{Diagnostic, Name, Result, codes};

impl Core {
    /// The names of all that can be called: builtins, then composites.
    pub fn op_names(&self) -> impl Iterator<Item = &str> {
        op_names(&self.registry)
    }

    /// Calls a builtin of the model language or a composite: operands, then what is given by name. `None` when the call is wrong
    /// or depends on what is.
    pub fn call(&mut self, name: &str, given: Vec<(Option<Name>, Argument)>, caller: &Caller) -> Option<Vec<Handle>> {
        // All arguments are looked at, so that each mistake in them is told.
        let given: Vec<Option<Given>> = given
            .into_iter()
            .map(|(name, argument)| Some(Given { name, value: self.value(argument, caller)? }))
            .collect();
        let given = given.into_iter().collect::<Option<_>>()?;
        let tensors = self.run(caller, |ops| {
            let values = ops.call(name, given, &())?;
            let tensor = |value: &Value| match value {
                Value::Tensor(tensor) => Ok(*tensor),
                other => {
                    let message = format!("`{name}` gives {}, not a tensor", ops.describe(other));
                    Err(Diagnostic::error(codes::KIND, message).help("compute numbers outside of the model"))
                }
            };
            values.iter().map(tensor).collect::<Result<Vec<_>>>()
        })?;
        Some(tensors.into_iter().map(|tensor| self.state.handle(tensor)).collect())
    }

    /// An infix operator on tensors and numbers.
    pub fn binary(&mut self, op: BinaryOp, x: Argument, y: Argument, caller: &Caller) -> Option<Handle> {
        self.operator(caller, [x, y], |ops, [x, y]| ops.binary(op, &x, &y, &()))
    }

    /// `-x`
    pub fn negate(&mut self, x: Argument, caller: &Caller) -> Option<Handle> {
        self.operator(caller, [x], |ops, [x]| ops.negate(&x, &()))
    }

    /// `not x`, on truth values or the bits of integers.
    pub fn not(&mut self, x: Argument, caller: &Caller) -> Option<Handle> {
        self.operator(caller, [x], |ops, [x]| ops.not(&x, &()))
    }

    /// Leading dimensions as the subscripts say, the others whole.
    pub fn slice(&mut self, x: Option<Handle>, subscripts: &[Subscript], caller: &Caller) -> Option<Handle> {
        self.operator(caller, [x.into()], |ops, [x]| match x {
            Value::Tensor(tensor) => {
                let subscripts: Vec<_> = subscripts.iter().copied().map(Indexed::By).collect();
                ops.slice(tensor, &subscripts, &())
            }
            other => Ok(other),
        })
    }

    /// The size of a dimension, counted from the end when negative; 1 where there is none.
    pub fn dim(&mut self, x: Option<Handle>, dim: i64, caller: &Caller) -> usize {
        let size = self.operate(caller, [x.into(), dim.into()], |ops, operands| {
            ops.call("dim", operands.map(Given::positional).to_vec(), &())
        });
        match size.as_deref() {
            Some([Value::Int(size, _)]) => usize::try_from(*size).unwrap_or(1),
            _ => 1,
        }
    }

    fn operator<const N: usize>(
        &mut self,
        caller: &Caller,
        operands: [Argument; N],
        operation: impl FnOnce(&mut Ops<'_>, [Value; N]) -> Result<Value>,
    ) -> Option<Handle> {
        let value = self.operate(caller, operands, operation)?;
        self.handle(if let Value::Tensor(tensor) = value { Some(tensor) } else { None })
    }
}
