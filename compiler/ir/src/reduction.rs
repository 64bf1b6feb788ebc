//! Kinds of reductions.

use crate::attr::word_attr;

word_attr! {
    /// How a reduction combines elements.
    Reduction, "`sum`, `max`, `min`, `and` or `or`" {
        /// Sum; 0 for no element. Integers wrap.
        #[default]
        Sum = "sum",
        /// Largest, NaN if there is one; the least value of the type, minus infinity for floats, for no element.
        Max = "max",
        /// Smallest, NaN if there is one; the greatest value of the type, infinity for floats, for no element.
        Min = "min",
        /// Bitwise and; all bits set for no element.
        And = "and",
        /// Bitwise or; no bit set for no element.
        Or = "or",
    }
}
