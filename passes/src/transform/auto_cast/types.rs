//! The element types of one instruction.

use halite_ir::{Follows, engine};
use halite_recipe::{Precision, PrecisionOverride};
use halite_tensor::DType;

/// The element types that a precision recipe states for one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Types {
    /// Operands of matmuls, and activations.
    pub(super) operand: DType,
    /// Sums.
    pub(super) accumulate: DType,
    /// Sensitive ops.
    pub(super) sensitive: DType,
    /// Gradients and their sums.
    pub(super) gradient: DType,
    /// Sums over ranks.
    pub(super) reduce: DType,
    /// Whether an override states `operand`: element-wise ops then take it too.
    pub(super) forced: bool,
}

impl Types {
    /// Those of the recipe.
    pub(super) fn of(precision: &Precision) -> Self {
        let &Precision { operand, accumulate, sensitive, gradient, reduce, .. } = precision;
        Self { operand, accumulate, sensitive, gradient, reduce, forced: false }
    }

    /// The same with an exception.
    pub(super) fn with(self, exception: &PrecisionOverride) -> Self {
        Self {
            operand: exception.operand.unwrap_or(self.operand),
            accumulate: exception.accumulate.unwrap_or(self.accumulate),
            sensitive: exception.sensitive.unwrap_or(self.sensitive),
            gradient: exception.gradient.unwrap_or(self.gradient),
            reduce: exception.reduce.unwrap_or(self.reduce),
            forced: self.forced || exception.operand.is_some(),
        }
    }

    /// The type that `follows` resolves to for an instruction whose widest operand is of type `widest`.
    pub(super) fn resolve(&self, follows: Follows, widest: DType) -> DType {
        match follows {
            Follows::Own => widest,
            Follows::Widest if self.forced => self.operand,
            Follows::Widest => widest,
            Follows::Engine => engine(widest),
            Follows::Operand => self.operand,
            Follows::Accumulate => self.accumulate,
            Follows::Sensitive => self.sensitive,
            Follows::Gradient => self.gradient,
            Follows::Reduce => self.reduce,
        }
    }
}

/// The type that `follows` resolves to under a precision recipe, exceptions aside, for an instruction whose widest operand is of type
/// `widest`.
pub fn resolve(precision: &Precision, follows: Follows, widest: DType) -> DType {
    Types::of(precision).resolve(follows, widest)
}
