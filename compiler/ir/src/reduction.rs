//! Kinds of reductions.

use crate::attr::word_attr;

word_attr! {
    /// How a reduction combines elements.
    Reduction, "`sum`, `product`, `max`, `min`, `and`, `or` or `xor`" {
        /// Sum; 0 for no element. Integers wrap.
        #[default]
        Sum = "sum",
        /// Product; 1 for no element. Integers wrap.
        Product = "product",
        /// Largest, NaN if there is one; the least value of the type, minus infinity for floats, for no element.
        Max = "max",
        /// Smallest, NaN if there is one; the greatest value of the type, infinity for floats, for no element.
        Min = "min",
        /// Bitwise and; all bits set for no element.
        And = "and",
        /// Bitwise or; no bit set for no element.
        Or = "or",
        /// Bitwise exclusive or; no bit set for no element.
        Xor = "xor",
    }
}

impl Reduction {
    /// Whether an element combined with itself is itself.
    pub fn is_idempotent(self) -> bool {
        matches!(self, Self::Max | Self::Min | Self::And | Self::Or)
    }

    /// Whether it is of numbers and rounds: a sum or a product.
    pub fn is_arithmetic(self) -> bool {
        matches!(self, Self::Sum | Self::Product)
    }
}
