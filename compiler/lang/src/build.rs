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
//! Layers that are alike are calls of one [`function`](ModelBuilder::function). Builders in other languages are made of the
//! same [`core`].
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
//! assert_eq!(mistakes[1].help_text(), Some("did you mean `softmax`? `halite help softmax` describes it"));
//! ```

mod argument;
mod call;
mod caller;
pub mod core;
mod declare;
mod function;
mod methods;
mod operators;
mod subscript;
mod tensor;

pub use crate::ast::{BinaryOp, Comparison};
pub use crate::ops::by_fan;
pub use argument::Argument;
pub use call::Call;
pub use caller::Caller;
pub use halite_ir::SizeFactor;
pub use halite_tensor::Init;
pub use subscript::{Subscript, Subscripts};
pub use tensor::Tensor;

use self::core::Core;
use crate::elaborate::Elaborated;
use halite_ir::Registry;
use halite_support::{Diagnostics, Name};
use halite_tensor::DType;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

/// A model under way; see the [module](self).
pub struct ModelBuilder {
    core: RefCell<Core>,
}

impl fmt::Debug for ModelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelBuilder").field(&self.core).finish()
    }
}

impl ModelBuilder {
    /// An empty model whose weights are `f32`, with the composites of a registry. What has a name, the model too, is named
    /// as in the model language: by letters, digits and `_`, not starting with a digit, and by no word of the language.
    #[track_caller]
    pub fn new(name: impl Into<Name>, registry: &Registry) -> Self {
        Self { core: RefCell::new(Core::new(name, registry.clone(), &Location::caller().into())) }
    }

    /// The same model with another element type for weights and for what stands for `float` in a model text. Where it is
    /// `f64`, as for what programs are verified against, `f32` in the model means `f64` too.
    #[must_use]
    pub fn with_float(self, float: DType) -> Self {
        Self { core: RefCell::new(self.core.into_inner().with_float(float)) }
    }

    /// The element type of weights.
    pub fn float(&self) -> DType {
        self.core.borrow().float()
    }

    /// Calls a builtin of the model language or a composite by name, on operands and, by [`Call::named`], on what has a name
    /// there.
    ///
    /// ```
    /// # use halite_lang::build::ModelBuilder;
    /// # let registry = halite_ir::Registry::builtin();
    /// # let m = ModelBuilder::new("m", &registry);
    /// # let x = m.batch("x", halite_tensor::DType::F32, [4, 6]);
    /// let norm = m.call("softmax", [x]).named("dim", 0).one();
    /// let mean = m.call("mean", [norm]).named("dims", -1).named("keep", true).one();
    /// assert_eq!(mean.shape(), [4, 1]);
    /// ```
    #[track_caller]
    pub fn call<'b, A: Into<Argument>>(&'b self, name: &str, args: impl IntoIterator<Item = A>) -> Call<'b> {
        Call::new(self, name, args.into_iter().map(Into::into).collect(), Location::caller().into())
    }

    /// Says that positions read later ones, as those of an encoder do, so that the model is not held to causality: `causal =
    /// false` in a text.
    pub fn bidirectional(&self) {
        self.core.borrow_mut().bidirectional();
    }

    /// Records a requirement that does not hold; `message` says what is required.
    #[track_caller]
    pub fn require(&self, holds: bool, message: &str) {
        self.core.borrow_mut().require(holds, message, &Location::caller().into());
    }

    /// Runs `body` in a scope: it prefixes the names of parameters, and instructions say that they come from it. Scopes
    /// nest; one is made of letters, digits, `_` and dots, as `layers.0`.
    #[track_caller]
    pub fn scope<T>(&self, name: impl fmt::Display, body: impl FnOnce() -> T) -> T {
        let caller = Location::caller().into();
        let scope = self.core.borrow_mut().enter_scope(name.to_string(), &caller);
        let result = body();
        self.core.borrow_mut().leave_scope(scope, &caller);
        result
    }

    /// The model, which returns the loss sum and the count over which it sums, both scalars. The builder can be used on: what
    /// is added later is part of the next model that it finishes.
    ///
    /// # Errors
    /// Every mistake that was made with this builder, in order: wrong operands, names that are taken, results that are no
    /// scalars, parameters that the loss does not depend on. Each has a note with its place.
    #[track_caller]
    pub fn finish(&self, loss: Tensor<'_>, count: Tensor<'_>) -> Result<Elaborated, Diagnostics> {
        self.core.borrow_mut().finish(loss.handle(), count.handle(), &Location::caller().into())
    }
}
