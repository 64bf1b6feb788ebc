//! The core of every builder, in any language.

mod call;
mod declare;
mod finish;
mod frame;
mod function;
mod identity;
mod report;
mod state;
mod value;

pub use frame::Handle;
pub use function::Body;
pub use state::Scope;

use super::{Argument, Caller};
use crate::ops::{Ops, Value};
use halite_ir::{Registry, TensorType};
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::DType;
use state::State;
use std::fmt;

/// A model under way as data: it borrows nothing and can be sent to other threads.
///
/// [`ModelBuilder`](super::ModelBuilder) is how it looks in Rust, and says what each operation means and which mistakes there
/// are. Builders in other languages call this: tensors are [`Handle`]s, where `None` is a poisoned one, each call says where it
/// was made, and scopes and functions are entered and left.
///
/// ```
/// use halite_ir::Registry;
/// use halite_lang::build::core::{Core, Handle};
/// use halite_lang::build::{Argument, BinaryOp, Caller, Init};
/// use halite_tensor::DType;
///
/// let at = |line| Caller::line_of("model.py".into(), line, None);
/// let mut core: Core = Core::new("m", Registry::builtin(), &at(1));
/// let mut x = core.batch("x", DType::F32, [4, 6].into(), &at(2));
/// for layer in 0..2 {
///     let scope = core.enter_scope(format!("layers.{layer}"), &at(4));
///     let (body, params) = core.begin_function("block", &[x], &at(5));
///     let weight = core.param("weight", [6].into(), Init::Ones, &at(6));
///     let y = core.binary(BinaryOp::Multiply, params[0].into(), weight.into(), &at(7));
///     x = core.end_function(body, &[y], &at(5))[0];
///     core.leave_scope(scope, &at(4));
/// }
/// let call = |core: &mut Core, name, args| -> Option<Handle> { core.call(name, args, &at(8))?.first().copied() };
/// let loss = call(&mut core, "sum", vec![(None, x.into())]);
/// let count = call(&mut core, "full", vec![(None, Vec::<i64>::new().into()), (None, 4.0.into())]);
/// let model = core.finish(loss, count, &at(9)).expect("no mistakes");
/// assert_eq!(model.module.entry().unwrap().params[2].name.to_string(), "layers.1.weight");
/// ```
#[derive(Clone)]
pub struct Core {
    registry: Registry,
    float: DType,
    state: State,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("float", &self.float).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Core {
    /// An empty model whose weights are `f32`, with the composites of a registry.
    pub fn new(name: impl Into<Name>, registry: Registry, caller: &Caller) -> Self {
        Self { registry, float: DType::F32, state: State::new(name.into(), caller) }
    }

    /// The same model with another element type for weights.
    #[must_use]
    pub fn with_float(self, float: DType) -> Self {
        Self { float, ..self }
    }

    /// The element type of weights.
    pub fn float(&self) -> DType {
        self.float
    }

    /// The mistakes that were made so far.
    pub fn mistakes(&self) -> &Diagnostics {
        &self.state.errors
    }

    /// Says that positions read later ones.
    pub fn bidirectional(&mut self) {
        self.state.module.bidirectional = true;
    }

    /// Records a requirement that does not hold; `message` says what is required.
    pub fn require(&mut self, holds: bool, message: &str, caller: &Caller) {
        if !holds {
            self.report(Diagnostic::error(codes::REQUIREMENT, message), caller);
        }
    }

    /// Enters a scope, until [`leave_scope`](Self::leave_scope).
    pub fn enter_scope(&mut self, name: String, caller: &Caller) -> Scope {
        self.state.enter_scope(name, caller)
    }

    /// Leaves a scope. It is a mistake when another one was entered in it and not left.
    pub fn leave_scope(&mut self, scope: Scope, caller: &Caller) {
        self.state.leave_scope(scope, caller);
    }

    /// The type of a tensor; `None` when it is poisoned, or none of a function under way.
    pub fn ty(&self, tensor: Option<Handle>) -> Option<&TensorType> {
        let handle = tensor?;
        Some(self.state.frame(handle)?.draft.function().ty(handle.value))
    }

    /// The same, where it is a mistake to ask for a tensor of a function that has returned, or of another model.
    pub fn current_ty(&mut self, tensor: Option<Handle>, caller: &Caller) -> Option<TensorType> {
        let ty = self.ty(tensor).cloned();
        if let (None, Some(handle)) = (&ty, tensor) {
            self.state.report_outside(handle, caller);
        }
        ty
    }

    /// Gives a tensor a name to be printed under, where it has none.
    pub fn name_tensor(&mut self, tensor: Option<Handle>, name: impl Into<Name>) {
        if let Some(handle) = tensor
            && let Some(frame) = self.state.frame_mut(handle)
        {
            frame.draft.name_value(handle.value, name);
        }
    }

    /// Records a mistake.
    pub(super) fn report(&mut self, error: Diagnostic, caller: &Caller) {
        self.state.report(error, caller);
    }

    /// Runs an operation; `None` when it failed or depends on what did.
    fn run<T>(&mut self, caller: &Caller, operation: impl FnOnce(&mut Ops<'_>) -> Result<T>) -> Option<T> {
        self.state.run(&self.registry, self.float, caller, operation)
    }

    /// Runs an operation on values.
    fn operate<T, const N: usize>(
        &mut self,
        caller: &Caller,
        operands: [Argument; N],
        operation: impl FnOnce(&mut Ops<'_>, [Value; N]) -> Result<T>,
    ) -> Option<T> {
        let values: Option<Vec<Value>> = operands.into_iter().map(|operand| self.value(operand, caller)).collect();
        let values: [Value; N] = values?.try_into().ok()?;
        self.run(caller, |ops| operation(ops, values))
    }

    /// A value of the function being written as a tensor.
    fn handle(&self, value: Option<halite_ir::Value>) -> Option<Handle> {
        value.map(|value| self.state.handle(value))
    }
}
