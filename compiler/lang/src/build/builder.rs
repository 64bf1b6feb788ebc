//! The builder as it looks in Rust.

use super::core::Core;
use super::{Argument, Call, Tensor};
use crate::elaborate::Elaborated;
use halite_ir::Registry;
use halite_support::{Diagnostics, Name};
use halite_tensor::DType;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

/// A model under way; see the [module](super).
pub struct ModelBuilder {
    pub(super) core: RefCell<Core>,
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
