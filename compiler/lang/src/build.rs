//! Models written in Rust.
//!
//! A [`ModelBuilder`] makes what [`elaborate`](crate::elaborate) makes of a text: the same names, the same checks, the
//! same instructions. A [`Tensor`] is a copyable handle with operators and methods; every builtin and every composite of
//! the registry can be called by name.
//!
//! ```
//! use halite_ir::Registry;
//! use halite_lang::build::ModelBuilder;
//! use halite_tensor::{DType, Init};
//!
//! let registry = Registry::builtin();
//! let (batch, seq, vocab, hidden) = (2, 8, 16, 4);
//! let m = ModelBuilder::new("bigram", &registry);
//! let tokens = m.batch("tokens", DType::S32, [batch, seq + 1]);
//! let x = m.scope("embed", || {
//!     let weight = m.param("weight", [vocab, hidden], Init::Normal { std: 0.02 });
//!     m.call("embedding", [tokens.slice((.., ..seq)), weight]).one()
//! });
//! let logits = m.scope("head", || {
//!     let weight = m.param("weight", [vocab, hidden], Init::Normal { std: 0.02 });
//!     m.call("linear", [x.tanh() * 2.0, weight]).one()
//! });
//! m.output("logits", logits);
//! let [loss, count] = m.call("cross_entropy", [logits, tokens.slice((.., 1..))]).results();
//! let model = m.finish(loss, count).expect("no mistakes");
//! let names: Vec<_> = model.module.entry().unwrap().params.iter().map(|param| param.name.to_string()).collect();
//! assert_eq!(names, ["tokens", "embed.weight", "head.weight"]);
//! ```
//!
//! Layers that are alike are calls of one [`function`](ModelBuilder::function).
//!
//! A mistake never panics. It is recorded with the place of the call, its result is poisoned, what depends on that is
//! skipped in silence, and [`finish`](ModelBuilder::finish) returns all mistakes of the run:
//!
//! ```
//! # use halite_ir::Registry;
//! # use halite_lang::build::ModelBuilder;
//! # use halite_tensor::DType;
//! # let registry = Registry::builtin();
//! let m = ModelBuilder::new("wrong", &registry);
//! let x = m.batch("x", DType::F32, [4, 6]);
//! let y = x.reshape([5, -1]);
//! let z = m.call("sofmax", [x]).one();
//! let mistakes = m.finish((y + z).sum_all(), m.scalar(1.0)).unwrap_err();
//! let texts: Vec<_> = mistakes.iter().map(|mistake| mistake.message()).collect();
//! assert_eq!(texts[0], "no size in place of -1 makes [5, -1] hold the 24 elements of `f32[4,6]`");
//! assert_eq!(texts[1], "no function or op is named `sofmax`");
//! assert_eq!(mistakes[1].help_text(), Some("did you mean `softmax`?"));
//! ```

mod argument;
mod call;
mod declare;
mod finish;
mod frame;
mod function;
mod identity;
mod methods;
mod operators;
mod state;
mod subscript;
mod tensor;

pub use argument::Argument;
pub use call::Call;
pub use halite_ir::SizeFactor;
pub use halite_tensor::Init;
pub use subscript::{Subscript, Subscripts};
pub use tensor::Tensor;

use crate::ops::{Given, Ops, Value, stated};
use halite_ir::Registry;
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::DType;
use state::State;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

/// A model under way; see the [module](self).
pub struct ModelBuilder<'r> {
    registry: &'r Registry,
    float: DType,
    state: RefCell<State>,
}

impl fmt::Debug for ModelBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelBuilder").field("float", &self.float).field("state", &self.state).finish_non_exhaustive()
    }
}

/// Where a builder was called.
type Caller = &'static Location<'static>;

impl<'r> ModelBuilder<'r> {
    /// An empty model whose weights are `f32`, with the composites of a registry. What has a name, the model too, is named
    /// as in the model language: by letters, digits and `_`, not starting with a digit, and by no word of the language.
    #[track_caller]
    pub fn new(name: impl Into<Name>, registry: &'r Registry) -> Self {
        Self { registry, float: DType::F32, state: RefCell::new(State::new(name.into(), Location::caller())) }
    }

    /// The same model with another element type for weights and for what stands for `float` in a model text. Where it is
    /// `f64`, as for what programs are verified against, `f32` in the model means `f64` too.
    #[must_use]
    pub fn with_float(self, float: DType) -> Self {
        Self { float, ..self }
    }

    /// The element type of weights.
    pub fn float(&self) -> DType {
        self.float
    }

    /// Calls a builtin of the model language or a composite by name, on operands and, by [`Call::attr`], on what has a name
    /// there.
    ///
    /// ```
    /// # use halite_lang::build::ModelBuilder;
    /// # let registry = halite_ir::Registry::builtin();
    /// # let m = ModelBuilder::new("m", &registry);
    /// # let x = m.batch("x", halite_tensor::DType::F32, [4, 6]);
    /// let norm = m.call("softmax", [x]).attr("dim", 0).one();
    /// let mean = m.call("mean", [norm]).attr("dims", -1).attr("keep", true).one();
    /// assert_eq!(mean.shape(), [4, 1]);
    /// ```
    #[track_caller]
    pub fn call<'b, A: Into<Argument<'b>>>(&'b self, name: &str, args: impl IntoIterator<Item = A>) -> Call<'b> {
        Call::new(self, name, args.into_iter().map(Into::into).collect(), Location::caller())
    }

    /// Says that positions read later ones, as those of an encoder do, so that the model is not held to causality: `causal =
    /// false` in a text.
    pub fn bidirectional(&self) {
        self.state.borrow_mut().module.bidirectional = true;
    }

    /// Records a requirement that does not hold; `message` says what is required.
    #[track_caller]
    pub fn require(&self, holds: bool, message: &str) {
        if !holds {
            self.report(Diagnostic::error(codes::REQUIREMENT, message), Location::caller());
        }
    }

    /// Runs `body` in a scope: it prefixes the names of parameters, and instructions say that they come from it. Scopes
    /// nest; one is made of letters, digits, `_` and dots, as `layers.0`.
    #[track_caller]
    pub fn scope<T>(&self, name: impl fmt::Display, body: impl FnOnce() -> T) -> T {
        let name = name.to_string();
        let outer = self.state.borrow_mut().enter_scope(name, Location::caller());
        let result = body();
        self.state.borrow_mut().leave_scope(outer);
        result
    }

    fn stated(&self, dtype: DType) -> DType {
        stated(self.float, dtype)
    }

    /// Records a mistake.
    fn report(&self, error: Diagnostic, caller: Caller) {
        self.state.borrow_mut().report(error, caller);
    }

    /// Runs an operation; `None` when it failed or depends on what did.
    fn run<T>(&self, caller: Caller, operation: impl FnOnce(&mut Ops<'_>) -> halite_support::Result<T>) -> Option<T> {
        self.state.borrow_mut().run(self.registry, self.float, caller, operation)
    }

    /// Runs an operation on values.
    fn operate<T, const N: usize>(
        &self,
        caller: Caller,
        operands: [Argument<'_>; N],
        operation: impl FnOnce(&mut Ops<'_>, [Value; N]) -> halite_support::Result<T>,
    ) -> Option<T> {
        let values: Vec<Value> =
            operands.into_iter().map(|operand| self.value(operand, caller)).collect::<Option<_>>()?;
        let values: [Value; N] = values.try_into().ok()?;
        self.run(caller, |ops| operation(ops, values))
    }

    /// The tensor that a call gives.
    fn call_one(&self, caller: Caller, name: &str, operands: Vec<Argument<'_>>) -> Option<halite_ir::Value> {
        let operands: Vec<_> =
            operands.into_iter().map(|operand| self.value(operand, caller)).collect::<Option<_>>()?;
        let given = operands.into_iter().map(Given::positional).collect();
        let values = self.run(caller, |ops| ops.call(name, given, &()))?;
        match values.as_slice() {
            [Value::Tensor(tensor)] => Some(*tensor),
            _ => None,
        }
    }
}
